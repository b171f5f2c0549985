/* Where gemm's tiles come from: packed weights as they lie, or sixteen rows of plain ones gathered. */
#pragma once

#include "kernels/products/opened.h"

namespace assay {
namespace {

// Columns that gemm takes at a time.
constexpr int64_t kChunkElements = 1024;
template <class Format>
inline constexpr int kChunk = static_cast<int>(kChunkElements / Format::kElements);

// A function of its own: plain and packed weights share it.
template <class Format>
__attribute__((noinline)) void open_tiles(const typename Format::Tile* __restrict tiles, int count,
                                          Opened<Format>* __restrict to) noexcept {
  for (int i = 0; i < count; ++i) to[i].open(Format(tiles[i]));
}

// W: a packed block of sixteen rows, or a plain one of a row.
template <class Format, class W>
struct Source {
  static constexpr int64_t kStreams = sizeof(W) == sizeof(typename Format::Block) ? kPackedRows : 1;  // rows of W in a tile

  const W* w;
  int64_t rows;    // of W
  int64_t blocks;  // of such a row

  // Past the last row stands the last row again: its sums are not stored.
  ASSAY_INLINE const W* stream(int64_t t, int64_t i, int64_t b) const {
    return w + at_most(t * kStreams + i, rows - 1) * blocks + b;
  }
  // Block columns b .. b + count - 1 of tile t.
  inline void open(int64_t t, int64_t b, int count, Opened<Format>* to) const {
    if constexpr (kStreams == 1) {
      open_tiles<Format>(stream(t, 0, b), count, to);
    } else {  // all are gathered before the first is opened: what has just been stored in parts cannot be loaded as a whole yet
      alignas(64) typename Format::Tile tiles[kChunk<Format>];
      const W* rows_of_tile[kPackedRows];
      for (int r = 0; r < kPackedRows; ++r) rows_of_tile[r] = stream(t, r, b);
      for (int i = 0; i < count; ++i) {
        gather(rows_of_tile, tiles[i]);
        for (const W*& row : rows_of_tile) ++row;
      }
      open_tiles<Format>(tiles, count, to);
    }
  }
};

template <class Format, class W>
inline Source<Format, W> source_of(const W* w, int64_t n, int64_t k) {
  constexpr int64_t rows = kPackedRows / Source<Format, W>::kStreams;  // that W holds
  return {w, (n + rows - 1) / rows, k / Format::kElements};
}

}  // namespace
}  // namespace assay
