// Row-major to tile-major [ceil(n/32), k, 32] and back: the destination's bytes, in its own order.
#pragma once

#include "kernels/pack_tile_f16/pack_tile_f16.h"
#include "kernels/pack_tile_f32/pack_tile_f32.h"
#include "kernels/unpack_tile_f16/unpack_tile_f16.h"
#include "kernels/unpack_tile_f32/unpack_tile_f32.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

extern const Contract kPackTileF16Contract;
extern const Contract kPackTileF32Contract;
extern const Contract kUnpackTileF16Contract;
extern const Contract kUnpackTileF32Contract;

void pack_tile_f16(const PackTileF16Args& args, Expected& dst);
void pack_tile_f32(const PackTileF32Args& args, Expected& dst);
void unpack_tile_f16(const UnpackTileF16Args& args, Expected& dst);
void unpack_tile_f32(const UnpackTileF32Args& args, Expected& dst);

}  // namespace assay::reference
