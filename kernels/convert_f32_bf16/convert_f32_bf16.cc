#include "kernels/convert_f32_bf16/convert_f32_bf16.h"

#define ASSAY_OP ConvertF32Bf16
#define ASSAY_KERNELS "kernels/convert_f32_bf16/kernels.inc"
#include "kernels/kernel_table.inc"
