/* Where gemm's tiles come from: packed weights as they lie, or sixteen rows of plain ones gathered. */
#pragma once

#include "kernels/products/opened.h"

namespace assay {
namespace {

// Columns that gemm takes at a time.
constexpr int64_t kChunkElements = 1024;
template <class Format>
inline constexpr int kChunk = static_cast<int>(kChunkElements / Format::kElements);

// A type of the format alone, so that the loops over tiles are the same code for both layouts.
template <class Format>
struct Source {
  const char* w;
  int64_t rows;     // of weights: packed blocks are one for sixteen rows
  int64_t blocks;   // of such a row
  int64_t bytes;    // of a weight
  int64_t streams;  // rows that a tile is made of
  void (*open_tile)(const Source& from, int64_t t, int64_t b, int count, Opened<Format>* to) noexcept;

  // Past the last row stands the last row again: its sums are not stored.
  ASSAY_INLINE const char* stream(int64_t t, int64_t i, int64_t b) const {
    return w + (at_most(t * streams + i, rows - 1) * blocks + b) * bytes;
  }
  // Block columns b .. b + count - 1 of tile t.
  ASSAY_INLINE void open(int64_t t, int64_t b, int count, Opened<Format>* to) const { open_tile(*this, t, b, count, to); }
};

// A function of its own: plain and packed weights share it.
template <class Format>
__attribute__((noinline)) void open_tiles(const typename Format::Tile* tiles, int count, Opened<Format>* to) noexcept {
  for (int i = 0; i < count; ++i) to[i].open(Format(tiles[i]));
}

template <class Format>
inline void open_packed(const Source<Format>& from, int64_t t, int64_t b, int count, Opened<Format>* to) noexcept {
  open_tiles(reinterpret_cast<const typename Format::Tile*>(from.stream(t, 0, b)), count, to);
}

// All are gathered before the first is opened: what has just been stored in parts cannot be loaded as a whole yet.
template <class Format>
inline void open_plain(const Source<Format>& from, int64_t t, int64_t b, int count, Opened<Format>* to) noexcept {
  alignas(64) typename Format::Tile tiles[kChunk<Format>];
  const typename Format::Block* rows[kPackedRows];
  for (int r = 0; r < kPackedRows; ++r) rows[r] = reinterpret_cast<const typename Format::Block*>(from.stream(t, r, b));
  for (int i = 0; i < count; ++i) {
    gather(rows, tiles[i]);
    for (const auto*& row : rows) ++row;
  }
  open_tiles(tiles, count, to);
}

template <class Format, class W>
inline Source<Format> source_of(const W* w, int64_t n, int64_t k) {
  const auto* const bytes = reinterpret_cast<const char*>(w);
  if constexpr (sizeof(W) == sizeof(typename Format::Block)) {
    return {bytes, n, k / Format::kElements, sizeof(W), kPackedRows, open_plain<Format>};
  } else {
    return {bytes, (n + kPackedRows - 1) / kPackedRows, k / Format::kElements, sizeof(W), 1, open_packed<Format>};
  }
}

}  // namespace
}  // namespace assay
