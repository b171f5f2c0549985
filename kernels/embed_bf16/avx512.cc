#include "kernels/simd/avx512.h"

#include "kernels/embed_bf16/body.h"

namespace assay {

extern "C" AssayStatus embed_bf16_avx512(const EmbedBf16Args* args) noexcept {
  return embed_bf16_body(*args);
}

}  // namespace assay
