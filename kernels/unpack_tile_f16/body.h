#pragma once

#include "kernels/simd/tile.h"
#include "kernels/unpack_tile_f16/unpack_tile_f16.h"

namespace assay {
namespace {

inline AssayStatus unpack_tile_f16_body(const UnpackTileF16Args& args) {
  return unpack_tiles(args);
}

}  // namespace
}  // namespace assay
