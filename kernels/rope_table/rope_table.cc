#include "kernels/rope_table/rope_table.h"

#define ASSAY_OP RopeTable
#define ASSAY_KERNELS "kernels/rope_table/kernels.inc"
#include "kernels/kernel_table.inc"
