/* gemm_q4_k_x16_q8_k

   y[j, i] = sum over c of x[j, c] * w[i, c]: m rows of q8_k activations against n rows of q4_k_x16 weights (y = x
   w^T).

   w  q4_k_x16 [ceil(n/16), k / 256], sixteen rows interleaved (kernels/formats/packed.h); lanes past n count
      nowhere  in
   x  q8_k [m, k / 256], row stride x_stride, in blocks  in
   y  f32 [m, n], row stride y_stride >= n, in elements  out; no overlap; between n and the stride nothing is
      written
   k a multiple of 256, else ASSAY_BAD_SHAPE. Alignment as gemv_q4_k_x16_q8_k. m = 0 or
   n = 0 writes nothing; k = 0 gives +0. Threads: the caller may split n at multiples of 16, and m anywhere.

   Canonical order: row j of y has the bits of gemv_q4_k_x16_q8_k of row j of x.
   Bound: as gemv_q4_k_x16_q8_k.
   Source: the definition over the decoded blocks; docs/formats.md.
*/
#pragma once

#include "kernels/formats/packed.h"

ASSAY_C_BEGIN

typedef struct GemmQ4KX16Q8KArgs {
  const BlockQ4_Kx16* w;
  const BlockQ8_K* x;
  float* y;
  int64_t m;
  int64_t n;
  int64_t k;
  int64_t x_stride; /* in blocks */
  int64_t y_stride;
} GemmQ4KX16Q8KArgs;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct GemmQ4KX16Q8K {
  using Args = GemmQ4KX16Q8KArgs;
  static constexpr const char* name = "gemm_q4_k_x16_q8_k";
};

}  // namespace assay
#endif
