#include "kernels/gemm_f32/gemm_f32.h"

#define ASSAY_OP GemmF32
#define ASSAY_KERNELS "kernels/gemm_f32/kernels.inc"
#include "kernels/kernel_table.inc"
