#include "kernels/simd/avx2.h"

#include "kernels/embed_f16/body.h"

namespace assay {

extern "C" AssayStatus embed_f16_avx2(const EmbedF16Args* args) noexcept {
  return embed_f16_body(*args);
}

}  // namespace assay
