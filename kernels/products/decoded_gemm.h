/* Y = X W^T, W in blocks, X in f32. After formats/bytes_<isa>.h.

   Blocks are decoded once for kDecodedRows rows of activations, into the panels of kernels/products/tile_gemm.h. */
#pragma once

#include "kernels/products/decoded_columns.h"
#include "kernels/products/tile_gemm.h"

namespace assay {
namespace {

constexpr int64_t kDecodedRows = 96;

template <class Block>
struct Panels {
  alignas(64) float at[kDepth<Block> / kBlock][kBlock * kTileRows];
};

// Columns first .. first + depth - 1 of kTileRows rows from n0 on.
template <class Block>
inline void fill_panels(const WeightRows<Block>& rows, int64_t n0, int64_t first, int64_t depth, Panels<Block>& panels) {
  for (int64_t half = 0; half < kTileRows; half += kLanes) {
    each_column(rows, n0 + half, first, depth,
                [&](int64_t c, const F32x16& w) { store(panels.at[c / kBlock] + c % kBlock * kTileRows + half, w); });
  }
}

template <class Block>
inline AssayStatus gemm(const Typed<Block, float>& args) {
  constexpr int Rows = kRegisterRows;
  constexpr int Columns = kRegisterColumns;
  static_assert(kDecodedRows % Rows == 0);
  if (args.k % kElementsOf<Block> != 0) return ASSAY_BAD_SHAPE;
  const WeightRows weights(args.w, args.n, args.k / kElementsOf<Block>);
  Panels<Block> panels;
  alignas(64) float totals[kDecodedRows * kTileRows];
  alignas(64) float x[Rows * kBlock] = {};
  for (int64_t n0 = 0; n0 < args.n; n0 += kTileRows) {
    const int64_t columns = at_most(kTileRows, args.n - n0);
    for (int64_t m0 = 0; m0 < args.m; m0 += kDecodedRows) {
      const int64_t rows = at_most(kDecodedRows, args.m - m0);
      if (args.k == 0) memset(totals, 0, sizeof totals);
      for (int64_t first = 0; first < args.k; first += kDepth<Block>) {
        const int64_t depth = at_most(kDepth<Block>, args.k - first);
        fill_panels(weights, n0, first, depth, panels);
        for (int64_t r0 = 0; r0 < rows; r0 += Rows) {
          const int64_t present = at_most(Rows, rows - r0);
          for (int64_t c = 0; c < depth; c += kBlock) {
            const int64_t width = at_most(kBlock, depth - c);
            for (int64_t r = 0; r < present; ++r) {
              stream(Copy{}, args.x + (m0 + r0 + r) * args.x_stride + first + c, x + r * kBlock, width);
            }
            const Sums total = {totals + r0 * kTileRows, kTileRows};
            add_tile<Rows, Columns>(x, present, panels.at[c / kBlock], width, first + c == 0, total, total);
          }
        }
      }
      for (int64_t r = 0; r < rows; ++r) {
        stream(Copy{}, totals + r * kTileRows, args.y + (m0 + r) * args.y_stride + n0, columns);
      }
    }
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
