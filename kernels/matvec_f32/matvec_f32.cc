#include "kernels/matvec_f32/matvec_f32.h"

#define ASSAY_OP MatvecF32
#define ASSAY_KERNELS "kernels/matvec_f32/kernels.inc"
#include "kernels/kernel_table.inc"
