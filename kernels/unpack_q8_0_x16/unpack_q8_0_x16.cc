#include "kernels/unpack_q8_0_x16/unpack_q8_0_x16.h"

#define ASSAY_OP UnpackQ80X16
#define ASSAY_KERNELS "kernels/unpack_q8_0_x16/kernels.inc"
#include "kernels/kernel_table.inc"
