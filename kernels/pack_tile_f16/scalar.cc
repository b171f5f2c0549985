#include "kernels/simd/scalar.h"

#include "kernels/pack_tile_f16/body.h"

namespace assay {

extern "C" AssayStatus pack_tile_f16_scalar(const PackTileF16Args* args) noexcept {
  return pack_tile_f16_body(*args);
}

}  // namespace assay
