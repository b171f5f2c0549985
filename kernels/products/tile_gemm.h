/* Y = X W^T over tile-major weights, for every ISA and weight type.

   Loops, outermost first: groups of tiles; cached rows; blocks of 64 columns, whose weights are widened once
   into a panel; register blocks of Rows x Columns vectors. Sums of rows lie in lanes and no chain is cut
   anywhere but at 64 columns, so every blocking gives the bits of gemv.
   The activations of a register block are copied together first: rows whose stride is a multiple of 4096
   bytes would all fall into the same few lines of the first-level cache. */
#pragma once

#include "kernels/packings/tile_major.h"
#include "kernels/products/typed.h"

namespace assay {
namespace {

// A tile's panel and activations share the first-level cache (8 + 3 KB); all panels (64 KB) and totals (192 KB) live in the second.
constexpr int64_t kGroupTiles = 8;
constexpr int64_t kGroupRows = kGroupTiles * kTileRows;
constexpr int64_t kCachedRows = 192;

// A block's columns of one row. No hardware guesses the next rows from a few lines each; past the last row it is harmless.
ASSAY_INLINE void prefetch_block(const float* row) {
  for (int64_t c = 0; c < kBlock; c += kLanes) __builtin_prefetch(row + c);
}

// Widens `depth` columns of a tile: panel[c][r].
template <class Widen, class Weight>
ASSAY_INLINE void widen_panel(const Weight* w, float* panel, int64_t depth) {
  constexpr Widen widen{};
  for (int64_t c = 0; c < depth; ++c) {
    const Weight* line = w + c * kTileRows;
    store(panel + c * kTileRows, widen(load(line)));
    store(panel + c * kTileRows + kLanes, widen(load(line + kLanes)));
  }
}

// Sums of rows of activations, in totals or in y.
struct Sums {
  float* at;
  int64_t stride;
  ASSAY_INLINE Sums from(int64_t column) const { return {at + column, stride}; }
};

// One block of columns for Rows activations (kBlock apart) and Columns vectors of weights' rows, all in registers, added to the
// totals or beginning them, into out.
template <int Rows, int Columns>
inline void gemm_registers(const float* x, const float* panel, int64_t depth, bool first, Sums totals, Sums out) {
  F32x16 sum[Rows][Columns];
  ASSAY_UNROLL
  for (int r = 0; r < Rows; ++r) {
    ASSAY_UNROLL
    for (int v = 0; v < Columns; ++v) sum[r][v] = zero();
  }
// The end of few steps is predicted, that of 64 is not.
#pragma GCC unroll 4
  for (int64_t c = 0; c < depth; ++c) {
    F32x16 w[Columns];
    ASSAY_UNROLL
    for (int v = 0; v < Columns; ++v) w[v] = load(panel + c * kTileRows + v * kLanes);
    ASSAY_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const F32x16 xc = broadcast(x[r * kBlock + c]);
      ASSAY_UNROLL
      for (int v = 0; v < Columns; ++v) sum[r][v] = fma(w[v], xc, sum[r][v]);
    }
  }
  ASSAY_UNROLL
  for (int r = 0; r < Rows; ++r) {
    ASSAY_UNROLL
    for (int v = 0; v < Columns; ++v) {
      const float* total = totals.at + r * totals.stride + v * kLanes;
      store(out.at + r * out.stride + v * kLanes, first ? sum[r][v] : add(load(total), sum[r][v]));
    }
  }
}

// Few rows take a smaller register block; what a block has too many is computed and not used.
template <int Rows, int Columns>
ASSAY_INLINE void add_tile(const float* x, int64_t rows, const float* panel, int64_t depth, bool first, Sums totals, Sums out) {
  if constexpr (Rows > 1) {
    if (rows <= Rows / 2) {
      add_tile<Rows / 2, Columns>(x, rows, panel, depth, first, totals, out);
      return;
    }
  }
  for (int64_t v = 0; v < kTileRows / kLanes; v += Columns) {
    gemm_registers<Rows, Columns>(x, panel + v * kLanes, depth, first, totals.from(v * kLanes), out.from(v * kLanes));
  }
}

ASSAY_INLINE void prefetch_outputs(float* y, int64_t tiles) {
  for (int64_t c = 0; c < tiles * kTileRows; c += kLanes) __builtin_prefetch(y + c, 1, 2);
}

// Of a tile's next block, the share that the register block from row r0 on has time for.
template <int Rows, class Weight>
ASSAY_INLINE void prefetch_next_block(const Weight* next, int64_t r0) {
  constexpr int64_t kShare = kBlock * Rows / kCachedRows;
  constexpr int64_t kLine = 64 / sizeof(Weight);
  constexpr int64_t kLines = kShare * kTileRows / kLine;
  const Weight* line = next + r0 / Rows * kShare * kTileRows;
  for (int64_t i = 0; i < kLines; ++i) __builtin_prefetch(line + i * kLine, 0, 2);
}

// `rows` (at most kCachedRows) rows of x from x0 on, against the `tiles` tiles from row n0 on: whole register blocks to y0, the rest
// into totals.
template <class Widen, int Rows, int Columns, class Args>
inline void gemm_group(const Args& args, const float* x0, float* y0, int64_t rows, int64_t n0, int64_t tiles, float* totals) {
  alignas(64) float panels[kGroupTiles][kBlock * kTileRows];
  alignas(64) float x[Rows * kBlock] = {};
  // Entered once even when k is 0: then each chain is empty and the totals are +0.
  for (int64_t block = 0; block == 0 || block < args.k; block += kBlock) {
    const int64_t depth = at_most(kBlock, args.k - block);
    const bool last = block + kBlock >= args.k;
    for (int64_t t = 0; t < tiles; ++t) {
      widen_panel<Widen>(args.w + (n0 + t * kTileRows) * args.k + block * kTileRows, panels[t], depth);
    }
    for (int64_t r0 = 0; r0 < rows; r0 += Rows) {
      const int64_t present = at_most(Rows, rows - r0);
      for (int64_t r = 0; r < present; ++r) {
        const float* row = x0 + (r0 + r) * args.x_stride + block;
        stream(Copy{}, row, x + r * kBlock, depth);
        prefetch_block(row + Rows * args.x_stride);
        if (last) prefetch_outputs(y0 + (r0 + r) * args.y_stride, tiles);
      }
      for (int64_t t = 0; t < tiles; ++t) {
        prefetch_next_block<Rows>(args.w + (n0 + t * kTileRows) * args.k + (block + kBlock) * kTileRows, r0);
        const Sums total = {totals + r0 * kGroupRows + t * kTileRows, kGroupRows};
        const bool straight = last && present == Rows && (t + 1) * kTileRows <= args.n - n0;
        const Sums out = straight ? Sums{y0 + r0 * args.y_stride + t * kTileRows, args.y_stride} : total;
        add_tile<Rows, Columns>(x, present, panels[t], depth, block == 0, total, out);
      }
    }
  }
}

template <class Number>
inline AssayStatus gemm(const Typed<TileMajor<Number>, float>& args) {
  constexpr int Rows = kRegisterRows;
  constexpr int Columns = kRegisterColumns;
  static_assert(kCachedRows % Rows == 0 && (kTileRows / kLanes) % Columns == 0);
  alignas(64) float totals[kCachedRows * kGroupRows];
  for (int64_t n0 = 0; n0 < args.n; n0 += kGroupRows) {
    const int64_t columns = at_most(kGroupRows, args.n - n0);
    const int64_t tiles = (columns + kTileRows - 1) / kTileRows;
    for (int64_t m0 = 0; m0 < args.m; m0 += kCachedRows) {
      const int64_t rows = at_most(kCachedRows, args.m - m0);
      gemm_group<typename Number::Widen, Rows, Columns>(args, args.x + m0 * args.x_stride, args.y + m0 * args.y_stride + n0, rows,
                                                        n0, tiles, totals);
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t c = r < rows / Rows * Rows ? columns / kTileRows * kTileRows : 0;
        stream(Copy{}, totals + r * kGroupRows + c, args.y + (m0 + r) * args.y_stride + n0 + c, columns - c);
      }
    }
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
