/* softmax, row by row. After an ISA's header. */
#pragma once

#include "kernels/norms/norms.h"
#include "kernels/simd/exp.h"

namespace assay {
namespace {

// The maximum of a row without NaN. A row with one may give any value: the NaN reaches the sum of the row, and by it
// every element.
ASSAY_INLINE float row_max(const float* x, int64_t n) {
  F32x16 m = broadcast(-__builtin_inff());
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) m = max(m, load(x + i));
  if (i < n) m = max(m, load_tail_fill(x + i, n - i, m));
  return tree_max(m);
}

// y = e^(x - m); returns the sum. A padded lane adds +0 to a sum that is never -0.
ASSAY_INLINE float row_exp(const float* x, float* y, int64_t n, float m) {
  const F32x16 maximum = broadcast(m);
  F32x16 sums = zero();
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const F32x16 e = exp(sub(load(x + i), maximum));
    store(y + i, e);
    sums = add(sums, e);
  }
  if (i < n) {
    const F32x16 e = exp(sub(load_tail(x + i, n - i), maximum));
    store_tail(y + i, e, n - i);
    sums = add(sums, keep_first(e, n - i));
  }
  return tree_sum(sums);
}

ASSAY_INLINE void row_divide(float* y, int64_t n, float l) {
  const F32x16 sum = broadcast(l);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, div(load(y + i), sum));
  if (i < n) store_tail(y + i, div(load_tail(y + i, n - i), sum), n - i);
}

inline AssayStatus softmax_body(const SoftmaxArgs& args) {
  if (args.n == 0) return ASSAY_OK;
  for (int64_t j = 0; j < args.rows; ++j) {
    const float* x = args.x + j * args.x_stride;
    float* y = args.y + j * args.y_stride;
    row_divide(y, args.n, row_exp(x, y, args.n, row_max(x, args.n)));
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
