#include "kernels/gemm_q5_k_q8_k/gemm_q5_k_q8_k.h"

#define ASSAY_OP GemmQ5KQ8K
#define ASSAY_KERNELS "kernels/gemm_q5_k_q8_k/kernels.inc"
#include "kernels/kernel_table.inc"
