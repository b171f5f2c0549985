/* e^x on sixteen lanes: the canonical order of kernels/activations/activations.h. After an ISA's header. */
#pragma once

namespace assay {
namespace {

ASSAY_INLINE F32x16 exp(F32x16 x) {
  // At the clamps the arithmetic already gives +0 and +inf. A NaN stays: max and min return their second operand.
  x = min(broadcast(89.0f), max(broadcast(-104.0f), x));
  const F32x16 n = rint(mul(x, broadcast(0x1.715476p0f)));  // x = n ln 2 + r, |r| <= ln(2)/2
  F32x16 r = fma(n, broadcast(-0x1.62e4p-1f), x);           // n times the upper part of ln 2 is exact
  r = fma(n, broadcast(-0x1.7f7d1cp-20f), r);
  F32x16 p = broadcast(0x1.a01a02p-13f);  // 1/7!, then 1/6! ...
  p = fma(p, r, broadcast(0x1.6c16c2p-10f));
  p = fma(p, r, broadcast(0x1.111112p-7f));
  p = fma(p, r, broadcast(0x1.555556p-5f));
  p = fma(p, r, broadcast(0x1.555556p-3f));
  p = fma(p, r, broadcast(0.5f));
  p = fma(p, r, broadcast(1.0f));
  p = fma(p, r, broadcast(1.0f));
  return scale(p, n);
}

}  // namespace
}  // namespace assay
