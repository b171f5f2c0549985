/* gemm_q4_k_f32

   y[j, i] = sum over c of x[j, c] * w[i, c]: m rows of f32 activations against n rows of q4_k weights (y = x w^T).

   w  q4_k [n, k / 256], contiguous rows of blocks  in
   x  f32 [m, k], row stride x_stride >= k, in elements  in
   y  f32 [m, n], row stride y_stride >= n, in elements  out; no overlap; between n and the stride nothing is
      written
   k a multiple of 256, else ASSAY_BAD_SHAPE. Alignment as gemv_q4_k_f32. m = 0 or
   n = 0 writes nothing; k = 0 gives +0. Threads: the caller may split n, and m anywhere.

   Canonical order: row j of y has the bits of gemv_q4_k_f32 of row j of x.
   Bound: as gemv_q4_k_f32.
   Source: the definition over the decoded blocks; docs/formats.md.
*/
#pragma once

#include "kernels/formats/blocks.h"

ASSAY_C_BEGIN

typedef struct GemmQ4KF32Args {
  const BlockQ4_K* w;
  const float* x;
  float* y;
  int64_t m;
  int64_t n;
  int64_t k;
  int64_t x_stride; /* in elements */
  int64_t y_stride;
} GemmQ4KF32Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct GemmQ4KF32 {
  using Args = GemmQ4KF32Args;
  static constexpr const char* name = "gemm_q4_k_f32";
};

}  // namespace assay
#endif
