/* pack_*_x16 and unpack_*_x16, for every format. After lines_scalar.h or lines_x86.h. */
#pragma once

#include "kernels/block_dot/tiles.h"

namespace assay {
namespace {

// Sixteen rows lie one after the other but are read side by side, which the hardware does not follow: while a tile is made, its share
// of the sixteen after the next comes into the second-level cache. Past the end a prefetch does nothing.
template <class Block>
ASSAY_INLINE void prefetch_share(const Block* rows, int64_t b) {
  constexpr int64_t kCacheLine = 64;
  constexpr int64_t kShare = kTileRows * sizeof(Block);
  const char* const share = reinterpret_cast<const char*>(rows) + b * kShare;
  for (int64_t at = 0; at < kShare; at += kCacheLine) __builtin_prefetch(share + at, 0, 2);
}

template <int Elements, class Block, class Tile>
inline AssayStatus pack_rows(const Block* src, Tile* dst, int64_t n, int64_t k) {
  if (k % Elements != 0) return ASSAY_BAD_SHAPE;
  static constexpr Block kPastTheEnd = {};
  const int64_t blocks = k / Elements;
  for (int64_t row = 0; row < n; row += kTileRows) {
    for (int64_t b = 0; b < blocks; ++b) {
      prefetch_share(src + (row + 2 * kTileRows) * blocks, b);
      const Block* rows[kTileRows];
      for (int r = 0; r < kTileRows; ++r) rows[r] = row + r < n ? src + (row + r) * blocks + b : &kPastTheEnd;
      gather(rows, dst[row / kTileRows * blocks + b]);
    }
  }
  return ASSAY_OK;
}

template <int Elements, class Block, class Tile>
inline AssayStatus unpack_rows(const Tile* src, Block* dst, int64_t n, int64_t k) {
  if (k % Elements != 0) return ASSAY_BAD_SHAPE;
  const int64_t blocks = k / Elements;
  for (int64_t row = 0; row < n; row += kTileRows) {
    for (int64_t b = 0; b < blocks; ++b) {
      Block past_the_end;
      Block* rows[kTileRows];
      for (int r = 0; r < kTileRows; ++r) rows[r] = row + r < n ? dst + (row + r) * blocks + b : &past_the_end;
      scatter(src[row / kTileRows * blocks + b], rows);
    }
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
