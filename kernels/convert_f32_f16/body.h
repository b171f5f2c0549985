#pragma once

#include "kernels/convert_f32_f16/convert_f32_f16.h"
#include "kernels/simd/stream.h"

namespace assay {
namespace {

inline AssayStatus convert_f32_f16_body(const ConvertF32F16Args& args) {
  return convert<NarrowF16>(args);
}

}  // namespace
}  // namespace assay
