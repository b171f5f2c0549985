/* gemm over block-quantised weights. After an ISA's lanes and dots.

   Loops, outermost first: panels of rows of activations; chunks of columns; T tiles of sixteen rows of weights; R rows of the
   panel. What depends on activations alone is worked out once a panel, and a tile is gathered and opened once a panel. A
   panel's chunk stays in the second-level cache and the opened tiles' (20 KB each) in the first; sums stay in registers over a
   chunk, and in y between two. */
#pragma once

#include "kernels/products/gemm_step.h"
#include "kernels/products/sixteen_rows.h"
#include "kernels/products/sources.h"

namespace assay {
namespace {

constexpr int64_t kPanelRows = 128;

// A chunk of columns of some rows of activations.
template <class Format>
struct Panel {
  const typename Format::Activation* x;  // the first row's first block
  int64_t x_stride;
  int64_t rows;
  int64_t first_block;
  int blocks;
  alignas(64) typename Format::Side sides[kPanelRows][kChunk<Format>];

  const typename Format::Activation* row(int64_t r) const { return x + r * x_stride + first_block; }

  inline void take_sides() {
    for (int64_t r = 0; r < rows; ++r) {
      for (int b = 0; b < blocks; ++b) sides[r][b].take(row(r)[b]);
    }
  }
};

// The same chunk of T tiles, and the outputs of the panel's rows there.
template <class Format, int T>
struct OpenTiles {
  alignas(64) Opened<Format> weights[T][kChunk<Format>];
  float* y;
  int64_t y_stride;
  int64_t columns;
};

// Rows row .. row + R - 1 of the panel.
template <int R, class Format, int T>
__attribute__((noinline)) void add_rows(const OpenTiles<Format, T>& tiles, const Panel<Format>& panel, int64_t row) noexcept {
  const auto y_at = [&](int t, int r) { return tiles.y + (row + r) * tiles.y_stride + t * kPackedRows; };
  const auto columns_of = [&](int t) { return tiles.columns - t * kPackedRows; };
  F32x16 acc[T][R];
  for_each_sum<T, R>([&](int t, int r) ASSAY_LAMBDA_INLINE {
    acc[t][r] = panel.first_block == 0 ? broadcast(0.0f) : load_rows(y_at(t, r), columns_of(t));
  });
  // For rows whose stride is a power of two a store would miss, and those after it would wait.
  for_each_sum<T, R>([&](int t, int r) ASSAY_LAMBDA_INLINE { __builtin_prefetch(y_at(t, r), 1); });
  for (int b = 0; b < panel.blocks; ++b) {
    const Opened<Format>* weights[T];
    const int8_t* x[R];
    const typename Format::Side* sides[R];
    ASSAY_UNROLL
    for (int t = 0; t < T; ++t) weights[t] = &tiles.weights[t][b];
    ASSAY_UNROLL
    for (int r = 0; r < R; ++r) {
      x[r] = panel.row(row + r)[b].qs;
      sides[r] = &panel.sides[row + r][b];
    }
    if constexpr (Format::kElements == ASSAY_QK_K) {
      add_super_block<Format>(weights, x, sides, acc);
    } else {
      add_block_of_32<Format>(weights, x, sides, acc);
    }
  }
  for_each_sum<T, R>([&](int t, int r) ASSAY_LAMBDA_INLINE { store_rows(y_at(t, r), acc[t][r], columns_of(t)); });
}

// Of the weights of T tiles from `tile` on, the share that rows row .. row + R - 1 of the panel have time for.
template <int T, int R, class Format, class W>
ASSAY_INLINE void prefetch_tiles(const Source<Format, W>& source, int64_t tile, const Panel<Format>& panel, int64_t row) {
  const int64_t lines = (panel.blocks * static_cast<int64_t>(sizeof(W)) + 63) / 64;
  const int64_t share = (lines + kPanelRows - 1) / kPanelRows;
  for (int64_t line = row * share; line < at_most((row + R) * share, lines); ++line) {
    for (int64_t i = 0; i < T * source.kStreams; ++i) {
      __builtin_prefetch(reinterpret_cast<const char*>(source.stream(tile, i, panel.first_block)) + line * 64, 0, 2);
    }
  }
}

// Rows row and on, R at a time, the rest in halves of it, rounded up. Meanwhile the weights of the tiles from `next` on are fetched.
template <int R, class Format, int T, class W>
inline void add_panel(const OpenTiles<Format, T>& tiles, const Panel<Format>& panel, int64_t row, const Source<Format, W>& source,
                      int64_t next) {
  for (; panel.rows - row >= R; row += R) {
    prefetch_tiles<T, R>(source, next, panel, row);
    add_rows<R>(tiles, panel, row);
  }
  if constexpr (R > 1) add_panel<(R + 1) / 2>(tiles, panel, row, source, next);
}

// Weights' rows n0 and on against a panel whose first row of outputs is y, T tiles at a time, the rest in halves of it.
template <int T, class Format, class W>
inline void add_tiles(const Source<Format, W>& source, const Panel<Format>& panel, int64_t n0, int64_t n, float* y,
                      int64_t y_stride) {
  OpenTiles<Format, T> tiles;
  tiles.y_stride = y_stride;
  for (; n - n0 > (T - 1) * kPackedRows; n0 += T * kPackedRows) {
    for (int t = 0; t < T; ++t) source.open(n0 / kPackedRows + t, panel.first_block, panel.blocks, tiles.weights[t]);
    tiles.y = y + n0;
    tiles.columns = n - n0;
    add_panel<kGemmRows>(tiles, panel, 0, source, n0 / kPackedRows + T);
  }
  if constexpr (T > 1) add_tiles<T / 2>(source, panel, n0, n, y, y_stride);
}

template <class Format, class W>
inline void multiply_blocks(const Source<Format, W>& source, const typename Format::Activation* x, float* y, int64_t m, int64_t n,
                            int64_t x_stride, int64_t y_stride) {
  Panel<Format> panel;
  panel.x_stride = x_stride;
  for (int64_t m0 = 0; m0 < m; m0 += kPanelRows) {
    panel.rows = at_most(kPanelRows, m - m0);
    panel.x = x + m0 * x_stride;
    panel.first_block = 0;
    do {  // once for k = 0 too: it writes +0
      panel.blocks = static_cast<int>(at_most(kChunk<Format>, source.blocks - panel.first_block));
      panel.take_sides();
      add_tiles<kGemmTiles>(source, panel, 0, n, y + m0 * y_stride, y_stride);
      panel.first_block += kChunk<Format>;
    } while (panel.first_block < source.blocks);
  }
}

template <class W, class X>
inline AssayStatus gemm(const Typed<W, X>& args) {
  using Format = FormatOf<W>;
  if (args.k % Format::kElements != 0) return ASSAY_BAD_SHAPE;
  multiply_blocks(source_of<Format>(args.w, args.n, args.k), args.x, args.y, args.m, args.n, args.x_stride, args.y_stride);
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
