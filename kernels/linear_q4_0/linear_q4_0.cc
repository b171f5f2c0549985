#include "kernels/linear_q4_0/linear_q4_0.h"

#define ASSAY_OP LinearQ40
#define ASSAY_KERNELS "kernels/linear_q4_0/kernels.inc"
#include "kernels/kernel_table.inc"
