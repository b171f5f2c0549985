/* Products: rows of weights by one row of activations (gemv) or many (gemm). A row of kernels/products/ops.inc is an op:

     gemv    y[i]    = sum over c of w[i, c] * x[c]            n rows of weights of k numbers; m = 1
     gemm    y[j, i] = sum over c of w[i, c] * x[j, c]         m rows of activations (y = x w^T)
     linear  y[j, i] = sum over c of w[i, c] * q(x)[j, c]      x is f32, quantised on the way (y = q(x) w^T): what an engine runs
                       as quantize_<activations> and gemm is one step here, for kernels that quantise their activations themselves

   w is read by its layout:
     tile   f32, f16 or bf16 [ceil(n/32), k, 32]: w[i/32, c, i%32] is row i, column c (pack_tile_f32, pack_tile_f16). All 32 lanes
            of the last tile may be read; those past n count nowhere
     plain  blocks [n, k / elements], contiguous rows
     x16    [ceil(n/16), k / elements], sixteen rows interleaved (kernels/formats/packed.h); lanes past n count nowhere
   x  [m, k] of f32, or [m, k / elements] of blocks whose codes lie in -127..127; rows x_stride apart: at least a row, in numbers or
      blocks. Of linear f32
   y  f32 [m, n], rows y_stride >= n apart; no overlap with w or x. Between n and the stride, and past the last, nothing is written
   Alignment: of w that of the number, 2 bytes for blocks (64 is fastest for tile and x16); of x and y 4.

   Refused, with nothing written (first of all sizes past those of kernels/sizes.h: ASSAY_BAD_SHAPE):
     ASSAY_BAD_SHAPE   a gemv whose m is not 1 (it ignores the strides); k not a multiple of a block's elements (32; K formats 256);
                       of linear also k above ASSAY_LINEAR_MOST_COLUMNS
     ASSAY_NOT_FINITE  linear alone: NaN or infinity in x, or a scale of its q8_0 blocks beyond f16's range
   m = 0 or n = 0 writes nothing; k = 0 gives +0.
   Threads: the caller may split m anywhere, and n at multiples of 32 (tile), 16 (x16) or 1 (plain).
   Classes: those of the arithmetic; over f32 activations a NaN or infinity in a row of x reaches every output of that row.

   Canonical order, of a row of x; gemm gives each row the bits of gemv:
     f32 activations   Weights are widened or decoded (as decode_<weights>) to f32. k in blocks of 64 from 0; in a block one chain
                       from +0, acc = fma(w[i, c], x[c], acc), c ascending; the first block's sum is the total, then
                       total = total + acc
     blocks            Block by block ascending from +0: acc = fma(d_w d_x, float(I1), acc), then where weights have minima
                       acc = fma(-(dmin_w d_x), float(I2), acc). Integers are exact in int32; float(I) is to nearest even; the
                       products of scales are rounded to f32 once. N_b is the number of blocks of a row:

     weights     I1 of a block                      I2                            h           c of E1 below
     q8_0        sum(q q8)                          none                          N_b         |q|
     q4_0        sum((q4 - 8) q8)                   none                          N_b         q4 + 8
     q4_1        sum(q4 q8)                         sum(q8): an offset, m_w       2 N_b       (no linear)
                                                    for -dmin_w
     q5_0        sum((q5 - 16) q8)                  none                          N_b         q5 + 16
     q4_k, q5_k  sum_j sc_j sum(q q8)               sum_j m_j (sum of codes of    2 N_b + 2   sc_j q
                                                    x's sub-block j)
     q6_k        sum_j sc_j sum((q6 - 32) q8)       none                          N_b + 2     |sc_j| (q6 + 32)

     linear            x to blocks as quantize_<activations> does it, byte for byte, then as gemm. About 128 KB of stack hold the
                       blocks of some rows at a time

   Bounds (docs/numerics.md); a product of scales beyond f32's range: only bits apply.
     f32 activations   g(h) S + 2 k eta, S = sum |w x| over the weights as widened or decoded; h = 64 + ceil(k/64), of tiles k + 1
                       below 64
     blocks            g(h) S_I + 2 eta (2 N_b + sum(|I1| + |I2|)), S_I = sum_b(|d_w d_x I1| + |dmin_w d_x I2|)
     linear            g(2 N_b + 8) S + 2 eta (32 N_b + sum(E1 + E2)), S = sum_b(|d_w d_x| E1 + |dmin_w d_x| E2) over the magnitudes
                       of a block's products: E1 = sum c |x_code|, E2 = sum m_j |x_code|. It leaves the order of the sums free,
                       inside a block too, but not the blocks ("linear" in docs/numerics.md)

   Source: the definition of a matrix product; over blocks, that of the decoded blocks (docs/formats.md). */
#pragma once

#include "kernels/formats/packed.h"
#include "kernels/sizes.h"

ASSAY_C_BEGIN

/* Columns of a row of linear: its blocks fit a kernel's stack. */
enum { ASSAY_LINEAR_MOST_COLUMNS = 65536 };

typedef struct ProductArgs {
  const void* w;
  const void* x;
  float* y;
  int64_t m; /* rows of x and y */
  int64_t n; /* rows of w */
  int64_t k; /* columns */
  int64_t x_stride;
  int64_t y_stride;
} ProductArgs;

ASSAY_C_END

ASSAY_SIZES_BEGIN

ASSAY_SIZES(ProductArgs, assay_product_sizes) {
  return assay_area(a->n, a->k) && assay_area(a->m, a->k) && assay_area(a->m, a->n) && assay_area(a->m, a->x_stride) &&
         assay_area(a->m, a->y_stride);
}

ASSAY_SIZES_END
