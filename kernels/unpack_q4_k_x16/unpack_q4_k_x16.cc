#include "kernels/unpack_q4_k_x16/unpack_q4_k_x16.h"

#define ASSAY_OP UnpackQ4KX16
#define ASSAY_KERNELS "kernels/unpack_q4_k_x16/kernels.inc"
#include "kernels/kernel_table.inc"
