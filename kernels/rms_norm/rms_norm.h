/* rms_norm

   y[j, i] = x[j, i] / sqrt(mean over i of x[j, i]^2 + eps) * w[i].

   x  f32 [rows, n], row stride x_stride >= n, in elements  in
   w  f32 [n]                                               in; one weight vector for all rows
   y  f32 [rows, n], row stride y_stride >= n, in elements  out; may be x itself with the same stride, no other overlap;
                                                            between n and the stride nothing is written
   Serves qk-norm: rows are the heads, n is head_dim, the stride is the padded head_dim.
   Alignment: 4 bytes. rows = 0 or n = 0 writes nothing. eps is a normal float > 0, else ASSAY_BAD_PARAMETER.
   Classes: those of the arithmetic; a NaN in a row makes the row NaN.

   Canonical order: ss = dot16(x, x) / float(n), a true division; r = 1 / sqrt(ss + eps); y = (x * r) * w.
   dot16: 16 partial sums from +0; element i goes to sum i mod 16 by fma, i ascending; then l + (l+8), +4, +2, +1.
   Bound: ((1+u)^4 / sqrt(1 - g(h+2)) - 1) |y| + 2 eta (1 + |w|), h = ceil(n/16) + 4. Where
   (sum x^2)(1 + g(h)) >= FLT_MAX, or w is infinite and |x r| <= 2^-149, only bits apply. Domain: n <= 2^24.
   Source: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019; eps inside the root, added to the mean.
*/
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

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

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct RmsNorm {
  using Args = RmsNormArgs;
  static constexpr const char* name = "rms_norm";
};

}  // namespace assay
#endif
