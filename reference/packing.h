// Row-major to tile-major [ceil(n/32), k, 32] and back: the destination's bytes, in its own order.
#pragma once

#include "golden/dtype.h"
#include "kernels/packings/packings.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

inline constexpr Contract kTile16Contract{"every 16-bit word", Exactness::exact, "bits equal", BiasUnit::none};
inline constexpr Contract kTile32Contract{"every 32-bit word", Exactness::exact, "bits equal", BiasUnit::none};

// Of words of two or four bytes.
void pack_tile(DType type, const PackArgs& args, Expected& dst);
void unpack_tile(DType type, const PackArgs& args, Expected& dst);

}  // namespace assay::reference
