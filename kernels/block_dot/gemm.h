/* gemm over block-quantised weights. After body.h.

   Loops, outermost first: two tiles of weights' rows; cached rows of activations; chunks of 256 columns; register blocks of R
   rows of activations. A tile's chunk stays in the first-level cache while all cached rows pass by. */
#pragma once

#include "kernels/block_dot/body.h"

namespace assay {
namespace {

constexpr int kGroupTiles = 2;
constexpr int64_t kGroupRows = kGroupTiles * kTileRows;
constexpr int64_t kCachedRows = 96;

// A chunk of one tile against R rows of activations. totals[r * kGroupRows + lane].
template <class Format, int R, class X, class SideType>
__attribute__((noinline)) void add_chunk(const typename Format::Tile* const* tiles, int blocks, const X* const (&x)[R],
                                         const SideType (&sides)[kChunk<Format>][R], float* totals) {
  Floats acc[R];
  ASSAY_UNROLL
  for (int r = 0; r < R; ++r) acc[r] = load_f32(totals + r * kGroupRows);
  for (int b = 0; b < blocks; ++b) {
    const X* at[R];
    ASSAY_UNROLL
    for (int r = 0; r < R; ++r) at[r] = x[r] + b;
    add_block<Format, R>(*tiles[b], at, sides[b], acc);
  }
  ASSAY_UNROLL
  for (int r = 0; r < R; ++r) store_f32(totals + r * kGroupRows, acc[r]);
}

// The tiles of one chunk, [tile][block].
template <class Format>
struct Chunk {
  const typename Format::Tile* tiles[kGroupTiles][kChunk<Format>];
  int tile_count;
  int blocks;
};

// `rows` rows of activations from x on, at most R. The last row stands for those that are missing: their totals are not used.
template <class Format, int R, class X>
inline void add_rows(const Chunk<Format>& chunk, const X* x, int64_t x_stride, int64_t rows, float* totals) {
  if constexpr (R > 1) {
    if (rows <= R / 2) {
      add_rows<Format, R / 2>(chunk, x, x_stride, rows, totals);
      return;
    }
  }
  const X* at[R];
  decltype(side_of<Format>(*x)) sides[kChunk<Format>][R];
  for (int r = 0; r < R; ++r) {
    at[r] = x + (r < rows ? r : rows - 1) * x_stride;
    for (int b = 0; b < chunk.blocks; ++b) sides[b][r] = side_of<Format>(at[r][b]);
  }
  for (int t = 0; t < chunk.tile_count; ++t) {
    add_chunk<Format, R>(chunk.tiles[t], chunk.blocks, at, sides, totals + t * kTileRows);
  }
}

template <class Format, template <class> class Source, int R, class Args>
inline AssayStatus block_gemm(const Args& args) {
  static_assert(kCachedRows % R == 0);
  if (args.k % Format::kElements != 0) return ASSAY_BAD_SHAPE;
  const int64_t blocks = args.k / Format::kElements;
  const Source<Format> source(args.w, args.n, blocks);
  alignas(64) float totals[kCachedRows * kGroupRows];
  alignas(64) typename Source<Format>::Scratch scratch[kGroupTiles][kChunk<Format>];
  for (int64_t n0 = 0; n0 < args.n; n0 += kGroupRows) {
    const int64_t columns = args.n - n0 < kGroupRows ? args.n - n0 : kGroupRows;
    Chunk<Format> chunk;
    chunk.tile_count = static_cast<int>((columns + kTileRows - 1) / kTileRows);
    for (int64_t m0 = 0; m0 < args.m; m0 += kCachedRows) {
      const int64_t rows = args.m - m0 < kCachedRows ? args.m - m0 : kCachedRows;
      memset(totals, 0, sizeof totals);
      for (int64_t b0 = 0; b0 < blocks; b0 += kChunk<Format>) {
        chunk.blocks = static_cast<int>(blocks - b0 < kChunk<Format> ? blocks - b0 : kChunk<Format>);
        for (int t = 0; t < chunk.tile_count; ++t) {
          for (int b = 0; b < chunk.blocks; ++b) chunk.tiles[t][b] = &source.at(n0 / kTileRows + t, b0 + b, scratch[t][b]);
        }
        for (int64_t r = 0; r < rows; r += R) {
          add_rows<Format, R>(chunk, args.x + (m0 + r) * args.x_stride + b0, args.x_stride, rows - r, totals + r * kGroupRows);
        }
      }
      for (int64_t r = 0; r < rows; ++r) {
        memcpy(args.y + (m0 + r) * args.y_stride + n0, totals + r * kGroupRows, static_cast<size_t>(columns) * sizeof(float));
      }
    }
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
