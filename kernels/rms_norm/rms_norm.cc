#include "kernels/rms_norm/rms_norm.h"

#define ASSAY_OP RmsNorm
#define ASSAY_KERNELS "kernels/rms_norm/kernels.inc"
#include "kernels/kernel_table.inc"
