#pragma once

#include "kernels/pack_tile_f16/pack_tile_f16.h"
#include "kernels/simd/tile.h"

namespace assay {
namespace {

inline AssayStatus pack_tile_f16_body(const PackTileF16Args& args) {
  return pack_tiles(args);
}

}  // namespace
}  // namespace assay
