#include "kernels/gemv_q8_0_f32/gemv_q8_0_f32.h"

#define ASSAY_OP GemvQ80F32
#define ASSAY_KERNELS "kernels/gemv_q8_0_f32/kernels.inc"
#include "kernels/kernel_table.inc"
