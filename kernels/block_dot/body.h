/* gemv and gemm over block-quantised weights, for every format and x86 ISA. After an ISA's header.

   A lane is a row, so no sum crosses lanes and a block's step is the canonical one: integers, then one or two fma. Packed
   weights are read as they lie; of plain ones sixteen rows' blocks are first gathered into a tile on the stack. Every blocking gives the
   same bits. */
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

// Prefetches a part of the tile that lies Bytes ahead: with each step its share of the lines.
template <int64_t Bytes, int Lines, int Steps>
struct PrefetchLines {
  const char* first;
  ASSAY_INLINE void operator()(int step) const {
    if constexpr (Bytes > 0) {
      ASSAY_UNROLL
      for (int l = step * Lines / Steps; l < (step + 1) * Lines / Steps; ++l) __builtin_prefetch(first + Bytes + 64 * l);
    }
  }
};

inline void store_rows(float* y, const float* sums, int64_t count) {
  memcpy(y, sums, static_cast<size_t>(count < kTileRows ? count : kTileRows) * sizeof(float));
}

// Not inlined: GCC would broadcast the activations once for all parts, and spill them.
template <class Format, class X, class SideType, class Between>
__attribute__((noinline)) void add_part(const typename Format::Tile& tile, int row, const X* const (&x)[1], const SideType (&side)[1],
                                        Floats (&acc)[1], Between between) {
  add_block<Format, 1>(tile, row, x, side, acc, between);
}

// PrefetchBytes: how far ahead of the tile at hand; 0: not at all.
template <class Format, template <class> class Source, int64_t PrefetchBytes, class Args>
inline AssayStatus block_gemv(const Args& args) {
  using Tile = typename Format::Tile;
  if (args.k % Format::kElements != 0) return ASSAY_BAD_SHAPE;
  const int64_t blocks = args.k / Format::kElements;
  const Source<Format> source(args.w, args.n, blocks);
  constexpr int kParts = kTileRows / kWidth;
  constexpr int kPartLines = (static_cast<int>(sizeof(Tile)) / kParts + 63) / 64;
  using PrefetchPart = PrefetchLines<PrefetchBytes, kPartLines, kSteps<Format>>;
  for (int64_t row = 0; row < args.n; row += kTileRows) {
    Floats acc[kParts][1];
    for (int part = 0; part < kParts; ++part) acc[part][0] = repeat_f32(0.0f);
    for (int64_t b = 0; b < blocks; ++b) {
      alignas(64) typename Source<Format>::Scratch scratch;
      const Tile& tile = source.at(row / kTileRows, b, scratch);
      const typename Format::Activation* const x[1] = {args.x + b};
      const decltype(side_of<Format>(*x[0])) side[1] = {side_of<Format>(*x[0])};
      if constexpr (kParts == 1) {
        add_block<Format, 1>(tile, 0, x, side, acc[0], PrefetchPart{reinterpret_cast<const char*>(&tile)});
      } else {
        for (int part = 0; part < kParts; ++part) {
          const PrefetchPart prefetch = {reinterpret_cast<const char*>(&tile) + part * kPartLines * 64};
          add_part<Format>(tile, part * kWidth, x, side, acc[part], prefetch);
        }
      }
    }
    alignas(64) float sums[kTileRows];
    for (int part = 0; part < kParts; ++part) store_f32(sums + part * kWidth, acc[part][0]);
    store_rows(args.y + row, sums, args.n - row);
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
