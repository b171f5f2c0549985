/* softmax

   y[j, i] = e^(x[j, i] - max) / sum over i of e^(x[j, i] - max), row by row.

   x  f32 [rows, n], row stride x_stride >= n, in elements  in
   y  f32 [rows, n], row stride y_stride >= n, in elements  out; may be x itself with the same stride, no other overlap;
                                                            between n and the stride nothing is written
   Alignment: 4 bytes. rows = 0 or n = 0 writes nothing.
   Classes: those of the arithmetic: a NaN or +inf in a row, or a row of -inf alone, makes the row NaN; -inf beside
   finite values gives +0.

   Canonical order: m = max (NaN if any is NaN); e_i = exp(x_i - m), exp as kernels/exp/exp.h; l = 16 sums of e_i, element i
   in sum i mod 16, i ascending, by addition from +0, then the tree l + (l+8), +4, +2, +1; y_i = e_i / l.
   Bound: d_i = u |x_i - max| + 2 E u; L = sum e^(x_i - max); P_i = e^(x_i - max + d_i) / L; G = g(ceil(n/16) + 4);
   B = P_i (1+u) / ((1 - sum(P - y))(1 - G)) - y_i + 2^-147.
   Source: the definition; the maximum is subtracted so that nothing overflows.
*/
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct SoftmaxArgs {
  const float* x;
  float* y;
  int64_t rows;
  int64_t n;
  int64_t x_stride;
  int64_t y_stride;
} SoftmaxArgs;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct Softmax {
  using Args = SoftmaxArgs;
  static constexpr const char* name = "softmax";
};

}  // namespace assay
#endif
