#include "kernels/matvec_bf16/matvec_bf16.h"

#define ASSAY_OP MatvecBf16
#define ASSAY_KERNELS "kernels/matvec_bf16/kernels.inc"
#include "kernels/kernel_table.inc"
