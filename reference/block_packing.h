// Sixteen rows of blocks interleaved (kernels/formats/packed.h) and back: bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/blocks.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

inline constexpr Contract kPackX16Contract{"every byte", Exactness::exact, "bytes equal", BiasUnit::none};

// rows: n dense rows of k elements, of q4_k, q6_k or q8_0. Rows past n are zero bytes.
std::vector<std::uint8_t> pack_x16(Format format, const void* rows, std::int64_t n, std::int64_t k);
std::vector<std::uint8_t> unpack_x16(Format format, const void* packed, std::int64_t n, std::int64_t k);

template <Format kFormat, class Args>
void pack_x16(const Args& args, Expected& dst) {
  dst = {};
  dst.bytes = pack_x16(kFormat, args.src, args.n, args.k);
}

template <Format kFormat, class Args>
void unpack_x16(const Args& args, Expected& dst) {
  dst = {};
  dst.bytes = unpack_x16(kFormat, args.src, args.n, args.k);
}

}  // namespace assay::reference
