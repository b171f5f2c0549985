#pragma once

#include "kernels/convert_f32_bf16/convert_f32_bf16.h"
#include "kernels/simd/stream.h"

namespace assay {
namespace {

inline AssayStatus convert_f32_bf16_body(const ConvertF32Bf16Args& args) {
  return convert<NarrowBf16>(args);
}

}  // namespace
}  // namespace assay
