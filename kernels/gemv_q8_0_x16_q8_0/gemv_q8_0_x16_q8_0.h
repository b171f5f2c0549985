/* gemv_q8_0_x16_q8_0

   y[i] = sum over c of w[i, c] * x[c], weights q8_0_x16, activations q8_0.

   w  q8_0_x16 [ceil(n/16), k / 32], sixteen rows interleaved (kernels/formats/packed.h); lanes past n count
      nowhere  in
   x  q8_0 [k / 32]  in
   y  f32 [n]  out; no overlap; nothing past n is written
   k a multiple of 32, else ASSAY_BAD_SHAPE. Alignment: 2 bytes for weights (64 is fastest), 4 for the rest.
   n = 0 writes nothing; k = 0 gives +0. Threads: the caller may split rows at multiples of 16.
   Activation codes lie in -127..127.

   Canonical order: integers are exact in int32; block by block ascending from +0, I1 = sum(q q8); acc = fma(d_w d_x,
   float(I1), acc).
   The products of scales are rounded to f32 once; float(I) to nearest even.
   Bound: g(h) S_I + 2 eta (2 N_b + sum(|I1| + |I2|)), S_I = sum_b(|d_w d_x I1| + |dmin_w d_x I2|), h = N_b, N_b = k /
   32; a product of scales beyond f32's range: only bits apply.
   Source: the definition over the decoded blocks; docs/formats.md.
*/
#pragma once

#include "kernels/formats/packed.h"

ASSAY_C_BEGIN

typedef struct GemvQ80X16Q80Args {
  const BlockQ8_0x16* w;
  const BlockQ8_0* x;
  float* y;
  int64_t n;
  int64_t k;
} GemvQ80X16Q80Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct GemvQ80X16Q80 {
  using Args = GemvQ80X16Q80Args;
  static constexpr const char* name = "gemv_q8_0_x16_q8_0";
};

}  // namespace assay
#endif
