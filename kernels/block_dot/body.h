/* gemv over packed weights, and where gemm's tiles come from. After an ISA's header.

   A lane is a row, so no sum crosses lanes and a block's step is the canonical one: integers, then one or two fma. Packed
   weights are read as they lie; for gemm, of plain ones sixteen rows' blocks are first gathered into a tile on the stack. Every
   blocking gives the same bits. */
#pragma once

#include "kernels/block_dot/lines_x86.h"

#include "kernels/block_dot/dots.h"

namespace assay {
namespace {

// Where tiles come from. Both: at(t, b, scratch) is block column b of rows 16 t .. 16 t + 15.
template <class Format>
struct Packed {
  using Weight = typename Format::Tile;
  const Weight* w;
  int64_t blocks;
  ASSAY_INLINE Packed(const Weight* weights, int64_t, int64_t blocks_in_row) : w(weights), blocks(blocks_in_row) {}

  struct Scratch {};
  ASSAY_INLINE const Weight& at(int64_t t, int64_t b, Scratch&) const { return w[t * blocks + b]; }
};

template <class Format>
struct Plain {
  using Weight = typename Format::Block;
  const Weight* w;
  int64_t n;
  int64_t blocks;
  ASSAY_INLINE Plain(const Weight* weights, int64_t rows, int64_t blocks_in_row) : w(weights), n(rows), blocks(blocks_in_row) {}

  using Scratch = typename Format::Tile;
  // Past the last row stands the last row again: its sums are not stored.
  ASSAY_INLINE const Scratch& at(int64_t t, int64_t b, Scratch& scratch) const {
    const Weight* rows[kTileRows];
    for (int64_t r = 0; r < kTileRows; ++r) {
      const int64_t row = t * kTileRows + r;
      rows[r] = w + (row < n ? row : n - 1) * blocks + b;
    }
    gather(rows, scratch);
    return scratch;
  }
};

// Columns taken at a time where tiles are gathered.
constexpr int64_t kChunkElements = 256;
template <class Format>
inline constexpr int kChunk = static_cast<int>(kChunkElements / Format::kElements);

// The first `count` of sixteen rows.
ASSAY_INLINE void store_rows(float* y, Floats sums, int64_t count) {
  if (count >= kTileRows) {
    store_f32(y, sums);
  } else {
    float lanes[kTileRows];
    store_f32(lanes, sums);
    memcpy(y, lanes, static_cast<size_t>(count) * sizeof(float));
  }
}

template <class Format>
ASSAY_INLINE void add_one_row(const typename Format::Tile& tile, const typename Format::Activation& x, Floats& sums) {
  const typename Format::Activation* const at[1] = {&x};
  const decltype(side_of<Format>(x)) side[1] = {side_of<Format>(x)};
  Floats acc[1] = {sums};
  add_block<Format, 1>(tile, at, side, acc);
  sums = acc[0];
}

// Packed weights are one ascending stream, which the hardware follows by itself. On Zen 4 software prefetch at any distance from
// 1 to 16 KiB, into any cache, costs 3 to 40 per cent of the read roof.
template <class Format, class Args>
inline AssayStatus packed_gemv(const Args& args) {
  if (args.k % Format::kElements != 0) return ASSAY_BAD_SHAPE;
  const int64_t blocks = args.k / Format::kElements;
  for (int64_t row = 0; row < args.n; row += kTileRows) {
    Floats sums = repeat_f32(0.0f);
    for (int64_t b = 0; b < blocks; ++b) add_one_row<Format>(args.w[row / kTileRows * blocks + b], args.x[b], sums);
    store_rows(args.y + row, sums, args.n - row);
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
