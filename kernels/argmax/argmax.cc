#include "kernels/argmax/argmax.h"

#define ASSAY_OP Argmax
#define ASSAY_KERNELS "kernels/argmax/kernels.inc"
#include "kernels/kernel_table.inc"
