#include "kernels/linear_q5_k/linear_q5_k.h"

#define ASSAY_OP LinearQ5K
#define ASSAY_KERNELS "kernels/linear_q5_k/kernels.inc"
#include "kernels/kernel_table.inc"
