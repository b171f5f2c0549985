#include "kernels/gemv_q4_k_f32/gemv_q4_k_f32.h"

#define ASSAY_OP GemvQ4KF32
#define ASSAY_KERNELS "kernels/gemv_q4_k_f32/kernels.inc"
#include "kernels/kernel_table.inc"
