#include "kernels/simd/avx512.h"

#include "kernels/embed_f32/body.h"

namespace assay {

extern "C" AssayStatus embed_f32_avx512(const EmbedF32Args* args) noexcept {
  return embed_f32_body(*args);
}

}  // namespace assay
