#include "kernels/convert_f16_f32/convert_f16_f32.h"

#include "harness/verdict/ops/convert.h"

namespace assay {
using ConvertF16F32Adapter =
    ConvertAdapter<ConvertF16F32, reference::kConvertF16F32Contract, reference::convert_f16_f32, DType::f16, DType::f32>;
}

ASSAY_DEFINE_ADAPTER(convert_f16_f32, ConvertF16F32Adapter)
