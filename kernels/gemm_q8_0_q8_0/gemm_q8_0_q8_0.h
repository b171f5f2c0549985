/* gemm_q8_0_q8_0

   y[j, i] = sum over c of x[j, c] * w[i, c]: m rows of q8_0 activations against n rows of q8_0 weights (y = x w^T).

   w  q8_0 [n, k / 32], contiguous rows of blocks  in
   x  q8_0 [m, k / 32], row stride x_stride, in blocks  in
   y  f32 [m, n], row stride y_stride >= n, in elements  out; no overlap; between n and the stride nothing is
      written
   k a multiple of 32, else ASSAY_BAD_SHAPE. Alignment as gemv_q8_0_q8_0. m = 0 or
   n = 0 writes nothing; k = 0 gives +0. Threads: the caller may split n, and m anywhere.

   Canonical order: row j of y has the bits of gemv_q8_0_q8_0 of row j of x.
   Bound: as gemv_q8_0_q8_0.
   Source: the definition over the decoded blocks; docs/formats.md.
*/
#pragma once

#include "kernels/formats/blocks.h"

ASSAY_C_BEGIN

typedef struct GemmQ80Q80Args {
  const BlockQ8_0* w;
  const BlockQ8_0* x;
  float* y;
  int64_t m;
  int64_t n;
  int64_t k;
  int64_t x_stride; /* in blocks */
  int64_t y_stride;
} GemmQ80Q80Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct GemmQ80Q80 {
  using Args = GemmQ80Q80Args;
  static constexpr const char* name = "gemm_q8_0_q8_0";
};

}  // namespace assay
#endif
