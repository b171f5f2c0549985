#include "kernels/gemm_q5_0_q8_0/gemm_q5_0_q8_0.h"

#define ASSAY_OP GemmQ50Q80
#define ASSAY_KERNELS "kernels/gemm_q5_0_q8_0/kernels.inc"
#include "kernels/kernel_table.inc"
