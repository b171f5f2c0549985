#include "kernels/gemm_q8_0_f32/gemm_q8_0_f32.h"

#define ASSAY_OP GemmQ80F32
#define ASSAY_KERNELS "kernels/gemm_q8_0_f32/kernels.inc"
#include "kernels/kernel_table.inc"
