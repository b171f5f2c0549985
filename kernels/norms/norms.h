/* A row made of the whole of itself: norms and the softmax. Alignment: 4 bytes. rows = 0 or n = 0 writes nothing. Refused: kernels/sizes.h.

   x  f32 [rows, n], row stride x_stride >= n, in elements  in
   w  f32 [n]                                               in; rms_norm's; one weight vector for all rows
   y  f32 [rows, n], row stride y_stride >= n, in elements  out; may be x itself with the same stride, no other overlap;
                                                            between n and the stride nothing is written

   dot16(a, b): 16 partial sums from +0; element i goes to sum i mod 16 by fma, i ascending; then l + (l+8), +4, +2, +1. */
#pragma once

#include "kernels/sizes.h"

ASSAY_C_BEGIN

/* rms_norm

   y[j, i] = x[j, i] / sqrt(mean over i of x[j, i]^2 + eps) * w[i].

   Serves qk-norm: rows are the heads, n is head_dim, the stride is the padded head_dim.
   eps is a normal float > 0, else ASSAY_BAD_PARAMETER.
   Classes: those of the arithmetic; a NaN in a row makes the row NaN.

   Canonical order: ss = dot16(x, x) / float(n), a true division; r = 1 / sqrt(ss + eps); y = (x * r) * w.
   Bound: ((1+u)^4 / sqrt(1 - g(h+2)) - 1) |y| + 2 eta (1 + |w|), h = ceil(n/16) + 4. Where
   (sum x^2)(1 + g(h)) >= FLT_MAX, or w is infinite and |x r| <= 2^-149, only bits apply. Domain: n <= 2^24.
   Source: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019; eps inside the root, added to the mean. */
typedef struct RmsNormArgs {
  const float* x;
  const float* w;
  float* y;
  int64_t rows;
  int64_t n;
  int64_t x_stride;
  int64_t y_stride;
  float eps;
} RmsNormArgs;

/* softmax

   y[j, i] = e^(x[j, i] - max) / sum over i of e^(x[j, i] - max), row by row.

   Classes: those of the arithmetic: a NaN or +inf in a row, or a row of -inf alone, makes the row NaN; -inf beside
   finite values gives +0.

   Canonical order: m = max (NaN if any is NaN); e_i = exp(x_i - m), the op exp's; l = 16 sums of e_i, element i
   in sum i mod 16, i ascending, by addition from +0, then dot16's tree; y_i = e_i / l.
   Bound: d_i = u |x_i - max| + 2 E u; L = sum e^(x_i - max); P_i = e^(x_i - max + d_i) / L; G = g(ceil(n/16) + 4);
   B = P_i (1+u) / ((1 - sum(P - y))(1 - G)) - y_i + 2^-147.
   Source: the definition; the maximum is subtracted so that nothing overflows. */
typedef struct SoftmaxArgs {
  const float* x;
  float* y;
  int64_t rows;
  int64_t n;
  int64_t x_stride;
  int64_t y_stride;
} SoftmaxArgs;

ASSAY_C_END

ASSAY_SIZES_BEGIN

ASSAY_SIZES(RmsNormArgs, assay_rms_norm_sizes) {
  return assay_area(a->rows, a->n) && assay_area(a->rows, a->x_stride) && assay_area(a->rows, a->y_stride);
}
ASSAY_SIZES(SoftmaxArgs, assay_softmax_sizes) {
  return assay_area(a->rows, a->n) && assay_area(a->rows, a->x_stride) && assay_area(a->rows, a->y_stride);
}

ASSAY_SIZES_END
