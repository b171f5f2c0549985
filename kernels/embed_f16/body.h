#pragma once

#include "kernels/embed_f16/embed_f16.h"
#include "kernels/simd/stream.h"

namespace assay {
namespace {

inline AssayStatus embed_f16_body(const EmbedF16Args& args) {
  return embed<WidenF16>(args);
}

}  // namespace
}  // namespace assay
