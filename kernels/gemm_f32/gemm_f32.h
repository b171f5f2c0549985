/* gemm_f32

   y[j, i] = sum over c of x[j, c] * w[i, c]: m rows of activations against n rows of weights (y = x w^T).

   w  f32 [ceil(n/32), k, 32]  in; tile-major, as in matvec_f32
   x  f32 [m, k], row stride x_stride >= k, in elements  in
   y  f32 [m, n], row stride y_stride >= n, in elements  out; no overlap with w or x; between n and the stride
                                nothing is written
   Alignment: that of the element (64 bytes is fastest). m = 0 or n = 0 writes nothing; k = 0 gives +0.
   Threads: the caller may split n at multiples of 32, and m anywhere.

   Canonical order: row j of y has the bits of matvec_f32 of row j of x.
   Bound: as matvec_f32.
   Source: the definition of a matrix product.
*/
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct GemmF32Args {
  const float* w;
  const float* x;
  float* y;
  int64_t m;
  int64_t n;
  int64_t k;
  int64_t x_stride;
  int64_t y_stride;
} GemmF32Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct GemmF32 {
  using Args = GemmF32Args;
  static constexpr const char* name = "gemm_f32";
};

}  // namespace assay
#endif
