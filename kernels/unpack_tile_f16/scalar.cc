#include "kernels/simd/scalar.h"

#include "kernels/unpack_tile_f16/body.h"

namespace assay {

extern "C" AssayStatus unpack_tile_f16_scalar(const UnpackTileF16Args* args) noexcept {
  return unpack_tile_f16_body(*args);
}

}  // namespace assay
