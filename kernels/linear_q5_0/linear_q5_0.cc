#include "kernels/linear_q5_0/linear_q5_0.h"

#define ASSAY_OP LinearQ50
#define ASSAY_KERNELS "kernels/linear_q5_0/kernels.inc"
#include "kernels/kernel_table.inc"
