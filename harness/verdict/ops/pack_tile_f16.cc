#include "kernels/pack_tile_f16/pack_tile_f16.h"

#include "harness/verdict/ops/pack_tile.h"

namespace assay {
using PackTileF16Adapter = PackTileAdapter<PackTileF16, reference::kPackTileF16Contract, reference::pack_tile_f16, DType::f16>;
}

ASSAY_DEFINE_ADAPTER(pack_tile_f16, PackTileF16Adapter)
