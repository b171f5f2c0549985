/* gemv_q8_0_f32

   y[i] = sum over c of w[i, c] * x[c], weights q8_0, activations f32.

   w  q8_0 [n, k / 32], contiguous rows of blocks  in
   x  f32 [k]  in
   y  f32 [n]  out; no overlap; nothing past n is written
   k a multiple of 32, else ASSAY_BAD_SHAPE. Alignment: 2 bytes for weights, 4 for the rest.
   n = 0 writes nothing; k = 0 gives +0. Threads: the caller may split rows. Activation codes lie in -127..127.

   Canonical order: the weight decoded as decode_q8_0, then as matvec: k in blocks of 64 from 0, in a block one fma
   chain from +0, c ascending, the totals added block by block.
   Bound: g(h) S + 2 k eta, S = sum |w x| over the decoded weights, h = 64 + ceil(k/64); a product of scales beyond
   f32's range: only bits apply.
   Source: the definition over the decoded blocks; docs/formats.md.
*/
#pragma once

#include "kernels/formats/blocks.h"

ASSAY_C_BEGIN

typedef struct GemvQ80F32Args {
  const BlockQ8_0* w;
  const float* x;
  float* y;
  int64_t n;
  int64_t k;
} GemvQ80F32Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct GemvQ80F32 {
  using Args = GemvQ80F32Args;
  static constexpr const char* name = "gemv_q8_0_f32";
};

}  // namespace assay
#endif
