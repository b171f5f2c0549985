#include "kernels/unpack_q6_k_x16/unpack_q6_k_x16.h"

#define ASSAY_OP UnpackQ6KX16
#define ASSAY_KERNELS "kernels/unpack_q6_k_x16/kernels.inc"
#include "kernels/kernel_table.inc"
