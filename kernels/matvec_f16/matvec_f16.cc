#include "kernels/matvec_f16/matvec_f16.h"

#define ASSAY_OP MatvecF16
#define ASSAY_KERNELS "kernels/matvec_f16/kernels.inc"
#include "kernels/kernel_table.inc"
