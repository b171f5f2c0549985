#include "kernels/convert_f16_f32/convert_f16_f32.h"

#define ASSAY_OP ConvertF16F32
#define ASSAY_KERNELS "kernels/convert_f16_f32/kernels.inc"
#include "kernels/kernel_table.inc"
