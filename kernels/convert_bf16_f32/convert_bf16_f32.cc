#include "kernels/convert_bf16_f32/convert_bf16_f32.h"

#define ASSAY_OP ConvertBf16F32
#define ASSAY_KERNELS "kernels/convert_bf16_f32/kernels.inc"
#include "kernels/kernel_table.inc"
