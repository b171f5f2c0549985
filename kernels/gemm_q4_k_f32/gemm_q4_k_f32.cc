#include "kernels/gemm_q4_k_f32/gemm_q4_k_f32.h"

#define ASSAY_OP GemmQ4KF32
#define ASSAY_KERNELS "kernels/gemm_q4_k_f32/kernels.inc"
#include "kernels/kernel_table.inc"
