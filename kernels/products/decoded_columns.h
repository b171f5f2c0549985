/* Sixteen rows of blocks decoded, then turned so that a lane is a row. After formats/bytes_<isa>.h. */
#pragma once

#include "kernels/formats/decode.h"
#include "kernels/products/typed.h"

namespace assay {
namespace {

template <class Block>
struct DecoderOf;
template <>
struct DecoderOf<BlockQ8_0> : decoder::q8_0 {};
template <>
struct DecoderOf<BlockQ4_K> : decoder::q4_k {};

// Columns decoded at a time: whole blocks, and whole blocks of the canonical order.
template <class Block>
inline constexpr int64_t kDepth = at_least(kElementsOf<Block>, kBlock);

// Row i's block b, where past the last row stands the last row again: its sums are not stored.
template <class Block>
struct WeightRows {
  const Block* w;
  int64_t n;
  int64_t blocks;
  ASSAY_INLINE WeightRows(const Block* weights, int64_t rows, int64_t blocks_in_row)
      : w(weights), n(rows), blocks(blocks_in_row) {}
  ASSAY_INLINE const Block& at(int64_t i, int64_t b) const { return w[(i < n ? i : n - 1) * blocks + b]; }
};

// use(c, column) for each of `depth` columns from `first` on (multiples of a block, at most kDepth), c ascending from 0: lane r of
// column is row i0 + r.
template <class Block, class Use>
ASSAY_INLINE void each_column(const WeightRows<Block>& rows, int64_t i0, int64_t first, int64_t depth, Use use) {
  alignas(64) float decoded[16][kDepth<Block>];
  for (int64_t r = 0; r < 16; ++r) {
    for (int64_t c = 0; c < depth; c += kElementsOf<Block>) {
      DecoderOf<Block>::decode(rows.at(i0 + r, (first + c) / kElementsOf<Block>), decoded[r] + c);
    }
  }
  for (int64_t c = 0; c < depth; c += kLanes) {
    F32x16 column[16];
    for (int r = 0; r < 16; ++r) column[r] = load(decoded[r] + c);
    transpose16(column);
    for (int j = 0; j < 16; ++j) use(c + j, column[j]);
  }
}

}  // namespace
}  // namespace assay
