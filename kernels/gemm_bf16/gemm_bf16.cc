#include "kernels/gemm_bf16/gemm_bf16.h"

#define ASSAY_OP GemmBf16
#define ASSAY_KERNELS "kernels/gemm_bf16/kernels.inc"
#include "kernels/kernel_table.inc"
