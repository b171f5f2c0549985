#include "kernels/unpack_tile_f16/unpack_tile_f16.h"

#include "harness/verdict/ops/pack_tile.h"

namespace assay {
using UnpackTileF16Adapter =
    UnpackTileAdapter<UnpackTileF16, reference::kUnpackTileF16Contract, reference::unpack_tile_f16, DType::f16>;
}

ASSAY_DEFINE_ADAPTER(unpack_tile_f16, UnpackTileF16Adapter)
