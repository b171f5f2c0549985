#pragma once

#include "kernels/pack_tile_f32/pack_tile_f32.h"
#include "kernels/simd/tile.h"

namespace assay {
namespace {

inline AssayStatus pack_tile_f32_body(const PackTileF32Args& args) {
  return pack_tiles(args);
}

}  // namespace
}  // namespace assay
