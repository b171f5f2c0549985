#include "kernels/gemv_q5_0_q8_0/gemv_q5_0_q8_0.h"

#define ASSAY_OP GemvQ50Q80
#define ASSAY_KERNELS "kernels/gemv_q5_0_q8_0/kernels.inc"
#include "kernels/kernel_table.inc"
