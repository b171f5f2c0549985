#include "kernels/swiglu/swiglu.h"

#define ASSAY_OP Swiglu
#define ASSAY_KERNELS "kernels/swiglu/kernels.inc"
#include "kernels/kernel_table.inc"
