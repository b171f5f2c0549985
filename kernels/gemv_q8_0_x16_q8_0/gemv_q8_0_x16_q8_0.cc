#include "kernels/gemv_q8_0_x16_q8_0/gemv_q8_0_x16_q8_0.h"

#define ASSAY_OP GemvQ80X16Q80
#define ASSAY_KERNELS "kernels/gemv_q8_0_x16_q8_0/kernels.inc"
#include "kernels/kernel_table.inc"
