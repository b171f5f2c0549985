/* gemv over packed weights, and where gemm's tiles come from. After an ISA's header.

   A lane is a row, so no sum crosses lanes and a block's step is the canonical one: integers, then one or two fma. Packed
   weights are read as they lie; for gemm, of plain ones sixteen rows' blocks are first gathered into a tile on the stack. Every
   blocking gives the same bits. */
#pragma once

#include "kernels/block_dot/lines_x86.h"

#include "kernels/block_dot/dots.h"
#include "kernels/simd/prefetch.h"

namespace assay {
namespace {

// Columns that gemm takes at a time.
constexpr int64_t kChunkElements = 1024;
template <class Format>
inline constexpr int kChunk = static_cast<int>(kChunkElements / Format::kElements);

// Where tiles come from. Both: at(t, b, count, scratch) are block columns b .. b + count - 1 of rows 16 t .. 16 t + 15; they are made
// of kStreams times `count` weights, which begin at stream(t, i, b).
template <class Format>
struct Packed {
  using Weight = typename Format::Tile;
  const Weight* w;
  int64_t blocks;
  ASSAY_INLINE Packed(const Weight* weights, int64_t, int64_t blocks_in_row) : w(weights), blocks(blocks_in_row) {}

  static constexpr int64_t kStreams = 1;
  ASSAY_INLINE const Weight* stream(int64_t t, int64_t, int64_t b) const { return w + t * blocks + b; }

  struct Scratch {};
  ASSAY_INLINE const Weight* at(int64_t t, int64_t b, int, Scratch&) const { return stream(t, 0, b); }
};

template <class Format>
struct Plain {
  using Weight = typename Format::Block;
  const Weight* w;
  int64_t n;
  int64_t blocks;
  ASSAY_INLINE Plain(const Weight* weights, int64_t rows, int64_t blocks_in_row) : w(weights), n(rows), blocks(blocks_in_row) {}

  // Past the last row stands the last row again: its sums are not stored.
  static constexpr int64_t kStreams = kTileRows;
  ASSAY_INLINE const Weight* stream(int64_t t, int64_t r, int64_t b) const {
    const int64_t row = t * kTileRows + r;
    return w + (row < n ? row : n - 1) * blocks + b;
  }

  struct Scratch {
    alignas(64) typename Format::Tile tiles[kChunk<Format>];
  };
  ASSAY_INLINE const typename Format::Tile* at(int64_t t, int64_t b, int count, Scratch& scratch) const {
    const Weight* rows[kTileRows];
    for (int64_t r = 0; r < kTileRows; ++r) rows[r] = stream(t, r, b);
    for (int i = 0; i < count; ++i) {
      gather(rows, scratch.tiles[i]);
      for (const Weight*& row : rows) ++row;
    }
    return scratch.tiles;
  }
};

// The first `count` of sixteen rows.
ASSAY_INLINE Floats load_rows(const float* y, int64_t count) {
  if (count >= kTileRows) return load_f32(y);
  float lanes[kTileRows] = {};
  memcpy(lanes, y, static_cast<size_t>(count) * sizeof(float));
  return load_f32(lanes);
}
ASSAY_INLINE void store_rows(float* y, Floats sums, int64_t count) {
  if (count >= kTileRows) {
    store_f32(y, sums);
  } else {
    float lanes[kTileRows];
    store_f32(lanes, sums);
    memcpy(y, lanes, static_cast<size_t>(count) * sizeof(float));
  }
}

// Columns that gemv takes at a time: more than models have, so that weights are read as they lie.
constexpr int64_t kGemvElements = 16384;

template <class Tile>
ASSAY_INLINE void prefetch_tile(const Tile& tile) {
  for (size_t at = 0; at < sizeof tile; at += 64) prefetch_line<kFarAhead>(reinterpret_cast<const char*>(&tile) + at);
}

template <class Format>
ASSAY_INLINE void add_one_row(const typename Format::Tile& tile, const int8_t* x, const typename Format::Side& side,
                              Floats& sums) {
  const Format format(tile);
  const Format* const weights[1] = {&format};
  const int8_t* const codes[1] = {x};
  const typename Format::Side* const sides[1] = {&side};
  Floats acc[1][1] = {{sums}};
  add_block<Format>(weights, codes, sides, acc);
  sums = acc[0][0];
}

// Packed weights are one ascending stream.
template <class Format, class Args>
inline AssayStatus packed_gemv(const Args& args) {
  if (args.k % Format::kElements != 0) return ASSAY_BAD_SHAPE;
  constexpr int64_t kBlocks = kGemvElements / Format::kElements;
  const int64_t blocks = args.k / Format::kElements;
  const bool ahead = !follows_streams();
  typename Format::Side sides[kBlocks];
  int64_t b0 = 0;
  do {  // once for k = 0 too: it writes +0
    const int64_t count = blocks - b0 < kBlocks ? blocks - b0 : kBlocks;
    const typename Format::Activation* x = args.x + b0;
    for (int64_t b = 0; b < count; ++b) sides[b].take(x[b]);
    for (int64_t row = 0; row < args.n; row += kTileRows) {
      const typename Format::Tile* tiles = args.w + row / kTileRows * blocks + b0;
      Floats sums = b0 == 0 ? repeat_f32(0.0f) : load_rows(args.y + row, args.n - row);
      for (int64_t b = 0; b < count; ++b) {
        if (ahead) prefetch_tile(tiles[b]);
        add_one_row<Format>(tiles[b], x[b].qs, sides[b], sums);
      }
      store_rows(args.y + row, sums, args.n - row);
    }
    b0 += kBlocks;
  } while (b0 < blocks);
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
