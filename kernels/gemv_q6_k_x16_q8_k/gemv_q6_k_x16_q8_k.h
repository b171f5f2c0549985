/* gemv_q6_k_x16_q8_k

   y[i] = sum over c of w[i, c] * x[c], weights q6_k_x16, activations q8_k.

   w  q6_k_x16 [ceil(n/16), k / 256], sixteen rows interleaved (kernels/formats/packed.h); lanes past n count
      nowhere  in
   x  q8_k [k / 256]  in
   y  f32 [n]  out; no overlap; nothing past n is written
   k a multiple of 256, else ASSAY_BAD_SHAPE. Alignment: 2 bytes for weights (64 is fastest), 4 for the rest.
   n = 0 writes nothing; k = 0 gives +0. Threads: the caller may split rows at multiples of 16.
   Activation codes lie in -127..127.

   Canonical order: integers are exact in int32; block by block ascending from +0, I1 = sum_j sc_j sum((q6 - 32) q8);
   acc = fma(d_w d_x, float(I1), acc).
   The products of scales are rounded to f32 once; float(I) to nearest even.
   Bound: g(h) S_I + 2 eta (2 N_b + sum(|I1| + |I2|)), S_I = sum_b(|d_w d_x I1| + |dmin_w d_x I2|), h = N_b + 2, N_b =
   k / 256; a product of scales beyond f32's range: only bits apply.
   Source: the definition over the decoded blocks; docs/formats.md.
*/
#pragma once

#include "kernels/formats/packed.h"

ASSAY_C_BEGIN

typedef struct GemvQ6KX16Q8KArgs {
  const BlockQ6_Kx16* w;
  const BlockQ8_K* x;
  float* y;
  int64_t n;
  int64_t k;
} GemvQ6KX16Q8KArgs;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct GemvQ6KX16Q8K {
  using Args = GemvQ6KX16Q8KArgs;
  static constexpr const char* name = "gemv_q6_k_x16_q8_k";
};

}  // namespace assay
#endif
