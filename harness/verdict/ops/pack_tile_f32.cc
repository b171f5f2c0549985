#include "kernels/pack_tile_f32/pack_tile_f32.h"

#include "harness/verdict/ops/pack_tile.h"

namespace assay {
using PackTileF32Adapter = PackTileAdapter<PackTileF32, reference::kPackTileF32Contract, reference::pack_tile_f32, DType::f32>;
}

ASSAY_DEFINE_ADAPTER(pack_tile_f32, PackTileF32Adapter)
