#include "kernels/gemm_q4_k_x16_q8_k/gemm_q4_k_x16_q8_k.h"

#define ASSAY_OP GemmQ4KX16Q8K
#define ASSAY_KERNELS "kernels/gemm_q4_k_x16_q8_k/kernels.inc"
#include "kernels/kernel_table.inc"
