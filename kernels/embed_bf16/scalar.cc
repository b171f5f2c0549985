#include "kernels/simd/scalar.h"

#include "kernels/embed_bf16/body.h"

namespace assay {

extern "C" AssayStatus embed_bf16_scalar(const EmbedBf16Args* args) noexcept {
  return embed_bf16_body(*args);
}

}  // namespace assay
