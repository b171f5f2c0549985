#include "kernels/rope/rope.h"

#define ASSAY_OP Rope
#define ASSAY_KERNELS "kernels/rope/kernels.inc"
#include "kernels/kernel_table.inc"
