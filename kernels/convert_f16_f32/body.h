#pragma once

#include "kernels/convert_f16_f32/convert_f16_f32.h"
#include "kernels/simd/stream.h"

namespace assay {
namespace {

inline AssayStatus convert_f16_f32_body(const ConvertF16F32Args& args) {
  return convert<WidenF16>(args);
}

}  // namespace
}  // namespace assay
