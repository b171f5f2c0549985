#include "kernels/convert_bf16_f32/convert_bf16_f32.h"

#include "harness/verdict/ops/convert.h"

namespace assay {
using ConvertBf16F32Adapter =
    ConvertAdapter<ConvertBf16F32, reference::kConvertBf16F32Contract, reference::convert_bf16_f32, DType::bf16, DType::f32>;
}

ASSAY_DEFINE_ADAPTER(convert_bf16_f32, ConvertBf16F32Adapter)
