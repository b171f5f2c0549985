#include "kernels/unpack_tile_f32/unpack_tile_f32.h"

#include "harness/verdict/ops/pack_tile.h"

namespace assay {
using UnpackTileF32Adapter =
    UnpackTileAdapter<UnpackTileF32, reference::kUnpackTileF32Contract, reference::unpack_tile_f32, DType::f32>;
}

ASSAY_DEFINE_ADAPTER(unpack_tile_f32, UnpackTileF32Adapter)
