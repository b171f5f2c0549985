/* exp

   y[i] = e^x[i].

   x  f32 [n]  in
   y  f32 [n]  out; may be x itself, no other overlap
   Alignment: 4 bytes. n = 0 writes nothing.
   Classes: NaN gives NaN; x > 0x1.62e42ep6 (and +inf) gives +inf; x < -104 (and -inf) gives +0;
   exp(+-0) = 1; results below 2^-126 underflow gradually.

   Canonical order: n = rint(fl(x * 0x1.715476p0)); r = fma(n, -0x1.62e4p-1, x); r = fma(n, -0x1.7f7d1cp-20, r);
   p = 0x1.a01a02p-13, then p = fma(p, r, c) for c = 0x1.6c16c2p-10, 0x1.111112p-7, 0x1.555556p-5,
   0x1.555556p-3, 0.5, 1, 1; y = (p * 2^a) * 2^(n-a), a = trunc(n/2): only the second product may round.
   Bound: E ulp of the truth, E = 0.939 measured over every float (tests/exp_every_float_test.cc).
   Source: range reduction by Cody and Waite; the Taylor polynomial of degree 7.
*/
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct ExpArgs {
  const float* x;
  float* y;
  int64_t n;
} ExpArgs;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct Exp {
  using Args = ExpArgs;
  static constexpr const char* name = "exp";
};

}  // namespace assay
#endif
