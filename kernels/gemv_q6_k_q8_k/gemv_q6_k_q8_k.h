/* gemv_q6_k_q8_k

   y[i] = sum over c of w[i, c] * x[c], weights q6_k, activations q8_k.

   w  q6_k [n, k / 256], contiguous rows of blocks  in
   x  q8_k [k / 256]  in
   y  f32 [n]  out; no overlap; nothing past n is written
   k a multiple of 256, else ASSAY_BAD_SHAPE. Alignment: 2 bytes for weights, 4 for the rest.
   n = 0 writes nothing; k = 0 gives +0. Threads: the caller may split rows. Activation codes lie in -127..127.

   Canonical order: integers are exact in int32; block by block ascending from +0, I1 = sum_j sc_j sum((q6 - 32) q8);
   acc = fma(d_w d_x, float(I1), acc).
   The products of scales are rounded to f32 once; float(I) to nearest even.
   Bound: g(h) S_I + 2 eta (2 N_b + sum(|I1| + |I2|)), S_I = sum_b(|d_w d_x I1| + |dmin_w d_x I2|), h = N_b + 2, N_b =
   k / 256; a product of scales beyond f32's range: only bits apply.
   Source: the definition over the decoded blocks; docs/formats.md.
*/
#pragma once

#include "kernels/formats/blocks.h"

ASSAY_C_BEGIN

typedef struct GemvQ6KQ8KArgs {
  const BlockQ6_K* w;
  const BlockQ8_K* x;
  float* y;
  int64_t n;
  int64_t k;
} GemvQ6KQ8KArgs;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct GemvQ6KQ8K {
  using Args = GemvQ6KQ8KArgs;
  static constexpr const char* name = "gemv_q6_k_q8_k";
};

}  // namespace assay
#endif
