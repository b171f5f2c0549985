#include "kernels/gemv_q4_0_q8_0/gemv_q4_0_q8_0.h"

#define ASSAY_OP GemvQ40Q80
#define ASSAY_KERNELS "kernels/gemv_q4_0_q8_0/kernels.inc"
#include "kernels/kernel_table.inc"
