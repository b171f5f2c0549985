#include "kernels/simd/avx512.h"

#include "kernels/simd/transpose.h"

#include "kernels/unpack_tile_f32/body.h"

namespace assay {

extern "C" AssayStatus unpack_tile_f32_avx512(const UnpackTileF32Args* args) noexcept {
  return unpack_tile_f32_body(*args);
}

}  // namespace assay
