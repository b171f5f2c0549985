#include "kernels/gemm_f16/gemm_f16.h"

#define ASSAY_OP GemmF16
#define ASSAY_KERNELS "kernels/gemm_f16/kernels.inc"
#include "kernels/kernel_table.inc"
