#include "kernels/add/add.h"

#define ASSAY_OP Add
#define ASSAY_KERNELS "kernels/add/kernels.inc"
#include "kernels/kernel_table.inc"
