/* rms_norm, row by row. After an ISA's header. */
#pragma once

#include "kernels/norms/norms.h"

namespace assay {
namespace {

// dot16(x, x). A padded lane adds 0 * 0, which changes no bit: a sum of squares is never -0.
ASSAY_INLINE float sum_of_squares(const float* x, int64_t n) {
  F32x16 sums = zero();
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const F32x16 v = load(x + i);
    sums = fma(v, v, sums);
  }
  if (i < n) {
    const F32x16 v = load_tail(x + i, n - i);
    sums = fma(v, v, sums);
  }
  return tree_sum(sums);
}

ASSAY_INLINE void rms_norm_row(const float* x, const float* w, float* y, int64_t n, float eps) {
  const float mean = sum_of_squares(x, n) / static_cast<float>(n);
  const F32x16 r = broadcast(1.0f / __builtin_sqrtf(mean + eps));
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, mul(mul(load(x + i), r), load(w + i)));
  const int64_t rest = n - i;
  if (rest > 0) store_tail(y + i, mul(mul(load_tail(x + i, rest), r), load_tail(w + i, rest)), rest);
}

inline AssayStatus rms_norm_body(const RmsNormArgs& args) {
  const bool eps_is_normal = args.eps >= 0x1p-126f && args.eps <= 0x1.fffffep127f;
  if (!eps_is_normal) return ASSAY_BAD_PARAMETER;
  if (args.n == 0) return ASSAY_OK;
  for (int64_t j = 0; j < args.rows; ++j) {
    rms_norm_row(args.x + j * args.x_stride, args.w, args.y + j * args.y_stride, args.n, args.eps);
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
