/* gemv_q4_k_f32

   y[i] = sum over c of w[i, c] * x[c], weights q4_k, activations f32.

   w  q4_k [n, k / 256], contiguous rows of blocks  in
   x  f32 [k]  in
   y  f32 [n]  out; no overlap; nothing past n is written
   k a multiple of 256, else ASSAY_BAD_SHAPE. Alignment: 2 bytes for weights, 4 for the rest.
   n = 0 writes nothing; k = 0 gives +0. Threads: the caller may split rows. Activation codes lie in -127..127.

   Canonical order: the weight decoded as decode_q4_k, then as matvec: k in blocks of 64 from 0, in a block one fma
   chain from +0, c ascending, the totals added block by block.
   Bound: g(h) S + 2 k eta, S = sum |w x| over the decoded weights, h = 64 + ceil(k/64); a product of scales beyond
   f32's range: only bits apply.
   Source: the definition over the decoded blocks; docs/formats.md.
*/
#pragma once

#include "kernels/formats/blocks.h"

ASSAY_C_BEGIN

typedef struct GemvQ4KF32Args {
  const BlockQ4_K* w;
  const float* x;
  float* y;
  int64_t n;
  int64_t k;
} GemvQ4KF32Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct GemvQ4KF32 {
  using Args = GemvQ4KF32Args;
  static constexpr const char* name = "gemv_q4_k_f32";
};

}  // namespace assay
#endif
