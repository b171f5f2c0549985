#include "kernels/linear_q8_0/linear_q8_0.h"

#define ASSAY_OP LinearQ80
#define ASSAY_KERNELS "kernels/linear_q8_0/kernels.inc"
#include "kernels/kernel_table.inc"
