/* gemm over block-quantised weights. After body.h.

   Loops, outermost first: panels of rows of activations; chunks of columns; tiles of sixteen rows of weights; R rows of the
   panel. What depends on activations alone is worked out once a panel, and a tile is gathered and opened once a panel. A
   panel's chunk stays in the second-level cache and an opened tile's (20 KB) in the first; sums stay in registers over a chunk,
   and in y between two. */
#pragma once

#include "kernels/block_dot/body.h"
#include "kernels/block_dot/opened.h"

namespace assay {
namespace {

constexpr int64_t kPanelRows = 96;

// A panel is [row][kChunk] of these.
template <class Format>
struct PanelBlock {
  typename Format::Side side;
  int8_t codes[Format::kElements];
};

// One tile's columns against a panel.
template <class Format>
struct Chunk {
  const Opened<Format>* weights;
  int blocks;
  bool first;  // sums start at +0, not at y
  float* y;
  int64_t y_stride;
  int64_t columns;  // of y
};

// Rows row .. row + R - 1 of the panel.
template <class Format, int R>
__attribute__((noinline)) void add_rows(const Chunk<Format>& chunk, const PanelBlock<Format>* panel, int64_t row) {
  const PanelBlock<Format>* block = panel + row * kChunk<Format>;
  float* y = chunk.y + row * chunk.y_stride;
  Floats acc[R];
  ASSAY_UNROLL
  for (int r = 0; r < R; ++r) acc[r] = chunk.first ? repeat_f32(0.0f) : load_rows(y + r * chunk.y_stride, chunk.columns);
  // For rows whose stride is a power of two a store would miss, and those after it would wait.
  for (int r = 0; r < R; ++r) __builtin_prefetch(y + r * chunk.y_stride, 1);
  for (int b = 0; b < chunk.blocks; ++b, ++block) {
    const int8_t* x[R];
    const typename Format::Side* sides[R];
    ASSAY_UNROLL
    for (int r = 0; r < R; ++r) {
      x[r] = block[r * kChunk<Format>].codes;
      sides[r] = &block[r * kChunk<Format>].side;
    }
    add_block<Format>(chunk.weights[b], x, sides, acc);
  }
  ASSAY_UNROLL
  for (int r = 0; r < R; ++r) store_rows(y + r * chunk.y_stride, acc[r], chunk.columns);
}

// Rows row .. rows - 1, R at a time, the rest in halves of it, rounded up.
template <class Format, int R>
inline void add_panel(const Chunk<Format>& chunk, const PanelBlock<Format>* panel, int64_t row, int64_t rows) {
  for (; rows - row >= R; row += R) add_rows<Format, R>(chunk, panel, row);
  if constexpr (R > 1) add_panel<Format, (R + 1) / 2>(chunk, panel, row, rows);
}

template <class Format>
inline void fill_panel(const typename Format::Activation* x, int64_t x_stride, int64_t rows, int blocks,
                       PanelBlock<Format>* panel) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int b = 0; b < blocks; ++b) {
      PanelBlock<Format>& block = panel[r * kChunk<Format> + b];
      block.side.take(x[r * x_stride + b]);
      memcpy(block.codes, x[r * x_stride + b].qs, sizeof block.codes);
    }
  }
}

template <class Format, template <class> class Source, int R, class Args>
inline AssayStatus block_gemm(const Args& args) {
  if (args.k % Format::kElements != 0) return ASSAY_BAD_SHAPE;
  const int64_t blocks = args.k / Format::kElements;
  const Source<Format> source(args.w, args.n, blocks);
  alignas(64) PanelBlock<Format> panel[kPanelRows * kChunk<Format>];
  typename Source<Format>::Scratch scratch;
  alignas(64) Opened<Format> opened[kChunk<Format>];
  for (int64_t m0 = 0; m0 < args.m; m0 += kPanelRows) {
    const int64_t rows = args.m - m0 < kPanelRows ? args.m - m0 : kPanelRows;
    int64_t b0 = 0;
    do {  // once for k = 0 too: it writes +0
      Chunk<Format> chunk;
      chunk.blocks = static_cast<int>(blocks - b0 < kChunk<Format> ? blocks - b0 : kChunk<Format>);
      chunk.first = b0 == 0;
      chunk.weights = opened;
      chunk.y_stride = args.y_stride;
      fill_panel<Format>(args.x + m0 * args.x_stride + b0, args.x_stride, rows, chunk.blocks, panel);
      for (int64_t n0 = 0; n0 < args.n; n0 += kTileRows) {
        const typename Format::Tile* tiles = source.at(n0 / kTileRows, b0, chunk.blocks, scratch);
        for (int b = 0; b < chunk.blocks; ++b) opened[b].open(Format(tiles[b]));
        chunk.y = args.y + m0 * args.y_stride + n0;
        chunk.columns = args.n - n0;
        add_panel<Format, R>(chunk, panel, 0, rows);
      }
      b0 += kChunk<Format>;
    } while (b0 < blocks);
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
