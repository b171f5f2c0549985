#include "kernels/linear_q6_k/linear_q6_k.h"

#define ASSAY_OP LinearQ6K
#define ASSAY_KERNELS "kernels/linear_q6_k/kernels.inc"
#include "kernels/kernel_table.inc"
