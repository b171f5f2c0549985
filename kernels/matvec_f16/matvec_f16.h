/* matvec_f16

   y[i] = sum over c of w[i, c] * x[c], for n rows of k, weights tile-major, activations f32.

   w  f16 [ceil(n/32), k, 32]  in; w[i/32, c, i%32] is row i, column c (pack_tile_f16). All 32 lanes of the
                                last tile may be read; those past n count nowhere.
   x  f32 [k]                    in
   y  f32 [n]                    out; no overlap with w or x; nothing past n is written
   Alignment: that of the element (64 bytes is fastest). n = 0 writes nothing; k = 0 gives +0.
   Threads: the caller may split rows at multiples of 32.
   Classes: those of the arithmetic; a NaN or infinity in x reaches every row.

   Canonical order: Weights are widened to f32 exactly. k in blocks of 64 from 0; in a block one chain from +0,
   acc = fma(w[i,c], x[c], acc), c ascending; the first block's sum is the total, then total = total + acc.
   Bound: g(h) S + 2 k eta, S = sum |w x|; h = 64 + ceil(k/64), or k + 1 below 64.
   Source: the definition of a matrix-vector product.
*/
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct MatvecF16Args {
  const uint16_t* w;
  const float* x;
  float* y;
  int64_t n;
  int64_t k;
} MatvecF16Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct MatvecF16 {
  using Args = MatvecF16Args;
  static constexpr const char* name = "matvec_f16";
};

}  // namespace assay
#endif
