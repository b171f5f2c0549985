#include "kernels/simd/avx512.h"

#include "kernels/simd/transpose.h"

#include "kernels/unpack_tile_f16/body.h"

namespace assay {

extern "C" AssayStatus unpack_tile_f16_avx512(const UnpackTileF16Args* args) noexcept {
  return unpack_tile_f16_body(*args);
}

}  // namespace assay
