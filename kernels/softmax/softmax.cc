#include "kernels/softmax/softmax.h"

#define ASSAY_OP Softmax
#define ASSAY_KERNELS "kernels/softmax/kernels.inc"
#include "kernels/kernel_table.inc"
