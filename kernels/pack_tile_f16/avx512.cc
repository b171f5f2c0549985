#include "kernels/simd/avx512.h"

#include "kernels/simd/transpose.h"

#include "kernels/pack_tile_f16/body.h"

namespace assay {

extern "C" AssayStatus pack_tile_f16_avx512(const PackTileF16Args* args) noexcept {
  return pack_tile_f16_body(*args);
}

}  // namespace assay
