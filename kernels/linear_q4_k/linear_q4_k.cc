#include "kernels/linear_q4_k/linear_q4_k.h"

#define ASSAY_OP LinearQ4K
#define ASSAY_KERNELS "kernels/linear_q4_k/kernels.inc"
#include "kernels/kernel_table.inc"
