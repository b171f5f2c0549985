#include "kernels/convert_f32_f16/convert_f32_f16.h"

#include "harness/verdict/ops/convert.h"

namespace assay {
using ConvertF32F16Adapter =
    ConvertAdapter<ConvertF32F16, reference::kConvertF32F16Contract, reference::convert_f32_f16, DType::f32, DType::f16>;
}

ASSAY_DEFINE_ADAPTER(convert_f32_f16, ConvertF32F16Adapter)
