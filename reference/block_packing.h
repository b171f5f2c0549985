// Sixteen rows of blocks interleaved (kernels/formats/packed.h) and back: bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/packings/packings.h"
#include "reference/blocks.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

inline constexpr Contract kPackX16Contract{"every byte", Exactness::exact, "bytes equal", BiasUnit::none};

// rows: n dense rows of k elements, of q4_k, q6_k or q8_0. Rows past n are zero bytes.
std::vector<std::uint8_t> pack_x16(Format format, const void* rows, std::int64_t n, std::int64_t k);
std::vector<std::uint8_t> unpack_x16(Format format, const void* packed, std::int64_t n, std::int64_t k);

void pack_x16(Format format, const PackArgs& args, Expected& dst);
void unpack_x16(Format format, const PackArgs& args, Expected& dst);

}  // namespace assay::reference
