/* linear_q4_k

   y[j, i] = sum over c of q(x)[j, c] * w[i, c]: m rows of f32 activations, quantised to q8_k on the way, against n rows
   of q4_k weights (y = q(x) w^T). What an engine runs as quantize_q8_k and gemm_q4_k_q8_k is one step here, for kernels that
   quantise their activations themselves.

   w  q4_k [n, k / 256], contiguous rows of blocks  in
   x  f32 [m, k], row stride x_stride >= k, in elements  in
   y  f32 [m, n], row stride y_stride >= n, in elements  out; no overlap; between n and the stride nothing is
      written
   k a multiple of 256 and at most ASSAY_LINEAR_MOST_COLUMNS, else ASSAY_BAD_SHAPE.
   NaN or infinity in x: ASSAY_NOT_FINITE, and nothing is written.
   Alignment: 2 bytes for weights, 4 for the rest. m = 0 or n = 0 writes nothing; k = 0 gives +0.
   Threads: the caller may split n, and m anywhere.

   Canonical order: x to q8_k as quantize_q8_k does it, byte for byte; then row j of y has the bits of gemv_q4_k_q8_k of
   row j. About 128 KB of stack hold the blocks of some rows at a time.
      Bound: g(h) S + 2 eta (32 N_b + sum(E1 + E2)), S = sum_b(|d_w d_x| E1 + |dmin_w d_x| E2) over the magnitudes of
   a block's products, E1 = sum sc c |x_code|, E2 = sum m |x_code|, c the stored code; h = 2 N_b + 8, N_b = k / 256; a
   product of scales beyond f32's range: only bits apply. It leaves the order of the sums free, inside a block too,
   but not the blocks.
   Source: the definition over the decoded blocks; docs/formats.md, docs/numerics.md ("linear").
*/
#pragma once

#include "kernels/formats/blocks.h"
#include "kernels/linear/linear.h"

ASSAY_C_BEGIN

typedef struct LinearQ4KArgs {
  const BlockQ4_K* w;
  const float* x;
  float* y;
  int64_t m;
  int64_t n;
  int64_t k;
  int64_t x_stride;
  int64_t y_stride;
} LinearQ4KArgs;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct LinearQ4K {
  using Args = LinearQ4KArgs;
  static constexpr const char* name = "linear_q4_k";
};

}  // namespace assay
#endif
