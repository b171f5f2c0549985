#pragma once

#include "kernels/convert_bf16_f32/convert_bf16_f32.h"
#include "kernels/simd/stream.h"

namespace assay {
namespace {

inline AssayStatus convert_bf16_f32_body(const ConvertBf16F32Args& args) {
  return convert<WidenBf16>(args);
}

}  // namespace
}  // namespace assay
