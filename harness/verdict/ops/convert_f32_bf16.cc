#include "kernels/convert_f32_bf16/convert_f32_bf16.h"

#include "harness/verdict/ops/convert.h"

namespace assay {
using ConvertF32Bf16Adapter =
    ConvertAdapter<ConvertF32Bf16, reference::kConvertF32Bf16Contract, reference::convert_f32_bf16, DType::f32, DType::bf16>;
}

ASSAY_DEFINE_ADAPTER(convert_f32_bf16, ConvertF32Bf16Adapter)
