/* y = W x, W in blocks, x in f32. After formats/bytes_<isa>.h.

   The order over tile-major weights: k in blocks of 64, one fma chain in each; a lane is a row and runs its chain. */
#pragma once

#include "kernels/products/decoded_columns.h"

namespace assay {
namespace {

template <class Block>
inline AssayStatus gemv(const Typed<Block, float>& args) {
  if (args.k % kElementsOf<Block> != 0) return ASSAY_BAD_SHAPE;
  const WeightRows rows(args.w, args.n, args.k / kElementsOf<Block>);
  for (int64_t row = 0; row < args.n; row += kLanes) {
    F32x16 total = zero();
    F32x16 sum = zero();
    for (int64_t first = 0; first < args.k; first += kDepth<Block>) {
      each_column(rows, row, first, at_most(kDepth<Block>, args.k - first), [&](int64_t c, const F32x16& w) {
        const int64_t at = first + c;
        sum = fma(w, broadcast(args.x[at]), sum);
        if ((at + 1) % kBlock != 0 && at + 1 != args.k) return;
        // The first block's sum as it is: +0 and a sum of -0 would make +0.
        total = at < kBlock ? sum : add(total, sum);
        sum = zero();
      });
    }
    const int64_t left = args.n - row;
    if (left >= kLanes) {
      store(args.y + row, total);
    } else {
      store_tail(args.y + row, total, left);
    }
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
