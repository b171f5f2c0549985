#include "kernels/pack_q8_0_x16/pack_q8_0_x16.h"

#define ASSAY_OP PackQ80X16
#define ASSAY_KERNELS "kernels/pack_q8_0_x16/kernels.inc"
#include "kernels/kernel_table.inc"
