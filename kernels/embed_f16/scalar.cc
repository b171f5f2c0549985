#include "kernels/simd/scalar.h"

#include "kernels/embed_f16/body.h"

namespace assay {

extern "C" AssayStatus embed_f16_scalar(const EmbedF16Args* args) noexcept {
  return embed_f16_body(*args);
}

}  // namespace assay
