#include "kernels/exp/exp.h"

#define ASSAY_OP Exp
#define ASSAY_KERNELS "kernels/exp/kernels.inc"
#include "kernels/kernel_table.inc"
