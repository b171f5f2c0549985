#pragma once

#include "kernels/simd/tile.h"
#include "kernels/unpack_tile_f32/unpack_tile_f32.h"

namespace assay {
namespace {

inline AssayStatus unpack_tile_f32_body(const UnpackTileF32Args& args) {
  return unpack_tiles(args);
}

}  // namespace
}  // namespace assay
