#include "kernels/gemm_q6_k_q8_k/gemm_q6_k_q8_k.h"

#define ASSAY_OP GemmQ6KQ8K
#define ASSAY_KERNELS "kernels/gemm_q6_k_q8_k/kernels.inc"
#include "kernels/kernel_table.inc"
