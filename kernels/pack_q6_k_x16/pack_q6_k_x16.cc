#include "kernels/pack_q6_k_x16/pack_q6_k_x16.h"

#define ASSAY_OP PackQ6KX16
#define ASSAY_KERNELS "kernels/pack_q6_k_x16/kernels.inc"
#include "kernels/kernel_table.inc"
