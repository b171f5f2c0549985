#include "kernels/convert_f32_f16/convert_f32_f16.h"

#define ASSAY_OP ConvertF32F16
#define ASSAY_KERNELS "kernels/convert_f32_f16/kernels.inc"
#include "kernels/kernel_table.inc"
