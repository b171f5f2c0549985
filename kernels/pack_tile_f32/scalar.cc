#include "kernels/simd/scalar.h"

#include "kernels/pack_tile_f32/body.h"

namespace assay {

extern "C" AssayStatus pack_tile_f32_scalar(const PackTileF32Args* args) noexcept {
  return pack_tile_f32_body(*args);
}

}  // namespace assay
