/* Element by element: e^x, a sum, a gated activation. Alignment of all: 4 bytes. Sizes past those of kernels/sizes.h: ASSAY_BAD_SHAPE. */
#pragma once

#include "kernels/sizes.h"

ASSAY_C_BEGIN

/* exp

   y[i] = e^x[i].

   x  f32 [n]  in
   y  f32 [n]  out; may be x itself, no other overlap
   n = 0 writes nothing.
   Classes: NaN gives NaN; x > 0x1.62e42ep6 (and +inf) gives +inf; x < -104 (and -inf) gives +0;
   exp(+-0) = 1; results below 2^-126 underflow gradually.

   Canonical order: n = rint(fl(x * 0x1.715476p0)); r = fma(n, -0x1.62e4p-1, x); r = fma(n, -0x1.7f7d1cp-20, r);
   p = 0x1.a01a02p-13, then p = fma(p, r, c) for c = 0x1.6c16c2p-10, 0x1.111112p-7, 0x1.555556p-5,
   0x1.555556p-3, 0.5, 1, 1; y = (p * 2^a) * 2^(n-a), a = trunc(n/2): only the second product may round.
   Bound: E ulp of the truth, E = 0.939 measured over every float (tests/exp_every_float_test.cc).
   Source: range reduction by Cody and Waite; the Taylor polynomial of degree 7. */
typedef struct ExpArgs {
  const float* x;
  float* y;
  int64_t n;
} ExpArgs;

/* add

   y[i] = a[i] + b[i].

   a  f32 [n]  in
   b  f32 [n]  in; may be a itself
   y  f32 [n]  out; may be a or b itself, no other overlap
   n = 0 writes nothing. Classes: those of the arithmetic.

   Canonical order: one rounded addition.
   Bound: u |y|.
   Source: IEEE 754-2019, 5.4.1. */
typedef struct AddArgs {
  const float* a;
  const float* b;
  float* y;
  int64_t n;
} AddArgs;

/* swiglu

   y[j, i] = silu(gate[j, i]) * up[j, i], silu(g) = g / (1 + e^-g).

   gate  f32 [rows, n], row stride gate_stride >= n, in elements  in
   up    f32 [rows, n], row stride up_stride >= n, in elements    in
   y     f32 [rows, n], row stride y_stride >= n, in elements     out; may be gate or up itself with the same stride, no
                                                                  other overlap; between n and the stride nothing is written
   rows = 0 or n = 0 writes nothing.
   Classes: those of the arithmetic: gate = -inf gives NaN (-inf / +inf).

   Canonical order: (g / (1 + exp(-g))) * up, the op exp's exponential, each operation rounded once.
   Bound: (3u + (1 - sigmoid(g)) 2 E u)(1 + 8u) |y| + |up| (2^-121 where g < -88, else 2^-149) + 2 eta.
   Where up is infinite and g < -88 or |silu(g)| <= 2^-149 (it may round to 0, and 0 * inf is NaN) only bits apply.
   Source: Shazeer, "GLU Variants Improve Transformer", 2020. */
typedef struct SwigluArgs {
  const float* gate;
  const float* up;
  float* y;
  int64_t rows;
  int64_t n;
  int64_t gate_stride;
  int64_t up_stride;
  int64_t y_stride;
} SwigluArgs;

ASSAY_C_END

ASSAY_SIZES_BEGIN

ASSAY_SIZES(ExpArgs, assay_exp_sizes) {
  return assay_size(a->n);
}
ASSAY_SIZES(AddArgs, assay_add_sizes) {
  return assay_size(a->n);
}
ASSAY_SIZES(SwigluArgs, assay_swiglu_sizes) {
  return assay_area(a->rows, a->n) && assay_area(a->rows, a->gate_stride) && assay_area(a->rows, a->up_stride) &&
         assay_area(a->rows, a->y_stride);
}

ASSAY_SIZES_END
