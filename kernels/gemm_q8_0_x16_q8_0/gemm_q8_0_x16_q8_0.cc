#include "kernels/gemm_q8_0_x16_q8_0/gemm_q8_0_x16_q8_0.h"

#define ASSAY_OP GemmQ80X16Q80
#define ASSAY_KERNELS "kernels/gemm_q8_0_x16_q8_0/kernels.inc"
#include "kernels/kernel_table.inc"
