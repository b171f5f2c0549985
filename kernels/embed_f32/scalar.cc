#include "kernels/simd/scalar.h"

#include "kernels/embed_f32/body.h"

namespace assay {

extern "C" AssayStatus embed_f32_scalar(const EmbedF32Args* args) noexcept {
  return embed_f32_body(*args);
}

}  // namespace assay
