#pragma once

#include "kernels/embed_f32/embed_f32.h"
#include "kernels/simd/stream.h"

namespace assay {
namespace {

inline AssayStatus embed_f32_body(const EmbedF32Args& args) {
  return embed<Copy>(args);
}

}  // namespace
}  // namespace assay
