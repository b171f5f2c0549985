#pragma once

#include "kernels/embed_bf16/embed_bf16.h"
#include "kernels/simd/stream.h"

namespace assay {
namespace {

inline AssayStatus embed_bf16_body(const EmbedBf16Args& args) {
  return embed<WidenBf16>(args);
}

}  // namespace
}  // namespace assay
