/* Power, sine and cosine in double, of our own: libraries differ in the last bit, and a table must not. Eight lanes;
   after an ISA's header and its _f64 header. */
#pragma once

namespace assay {
namespace {

// The unevaluated sum hi + lo, |lo| <= ulp(hi)/2: some 106 bits.
struct Dd {
  F64x8 hi;
  F64x8 lo;
};

// a + b exactly, |a| >= |b| or a = 0 (Dekker).
ASSAY_INLINE Dd quick_two_sum(const F64x8& a, const F64x8& b) {
  const F64x8 s = add(a, b);
  return {s, sub(b, sub(s, a))};
}
// a + b exactly (Knuth).
ASSAY_INLINE Dd two_sum(const F64x8& a, const F64x8& b) {
  const F64x8 s = add(a, b);
  const F64x8 from_b = sub(s, a);
  return {s, add(sub(a, sub(s, from_b)), sub(b, from_b))};
}
// a * b exactly.
ASSAY_INLINE Dd two_product(const F64x8& a, const F64x8& b) {
  const F64x8 p = mul(a, b);
  return {p, fms(a, b, p)};
}

ASSAY_INLINE Dd broadcast_dd(double hi, double lo) {
  return {broadcast64(hi), broadcast64(lo)};
}
ASSAY_INLINE Dd add(const Dd& a, const Dd& b) {
  const Dd s = two_sum(a.hi, b.hi);
  return quick_two_sum(s.hi, add(s.lo, add(a.lo, b.lo)));
}
ASSAY_INLINE Dd mul(const Dd& a, const Dd& b) {
  const Dd p = two_product(a.hi, b.hi);
  return quick_two_sum(p.hi, fma(a.hi, b.lo, fma(a.lo, b.hi, p.lo)));
}
ASSAY_INLINE Dd div(const Dd& a, const Dd& b) {
  const F64x8 q = div(a.hi, b.hi);
  const F64x8 minus_q = sub(broadcast64(0.0), q);
  const F64x8 rest = fma(minus_q, b.lo, add(fma(minus_q, b.hi, a.hi), a.lo));  // a - q b; the inner fma is exact
  return quick_two_sum(q, div(rest, b.hi));
}

// ln x for a normal x > 0. x = 2^k m, m in [sqrt(1/2), sqrt(2)); ln m = 2 atanh(s) = 2 (s + s^3/3 + s^5/5 ..),
// s = (m-1)/(m+1), |s| < 0.172. The first term left out is below 2^-100 of the sum.
inline Dd log_f64(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  double k = static_cast<double>(static_cast<int64_t>(bits >> 52) - 1023);
  bits = (bits & 0xfffffffffffffu) | 0x3ff0000000000000u;
  double m;
  memcpy(&m, &bits, sizeof m);
  if (m > 0x1.6a09e667f3bcdp0) {
    m *= 0.5;
    k += 1.0;
  }
  const F64x8 one = broadcast64(1.0);
  const Dd s = div(Dd{broadcast64(m - 1.0), broadcast64(0.0)}, two_sum(broadcast64(m), one));
  const Dd s2 = mul(s, s);
  Dd sum = broadcast_dd(0.0, 0.0);
  for (int odd = 39; odd > 0; odd -= 2) {
    const Dd reciprocal = div(broadcast_dd(1.0, 0.0), broadcast_dd(static_cast<double>(odd), 0.0));
    sum = add(mul(sum, s2), reciprocal);
  }
  const Dd ln_m = mul(sum, add(s, s));
  const Dd k_ln2 = mul(broadcast_dd(k, 0.0), broadcast_dd(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56));
  return add(k_ln2, ln_m);
}

// e^r for |r| <= ln(2)/2, relative error below 2^-72: Taylor's series, its terms from r^7 on in plain double.
ASSAY_INLINE Dd exp_reduced(const Dd& r) {
  constexpr double kTail[] = {// 1/17! .. 1/7!
                              0x1.952c77030ad4ap-49, 0x1.ae7f3e733b81fp-45, 0x1.ae7f3e733b81fp-41, 0x1.93974a8c07c9dp-37,
                              0x1.6124613a86d09p-33, 0x1.1eed8eff8d898p-29, 0x1.ae64567f544e4p-26, 0x1.27e4fb7789f5cp-22,
                              0x1.71de3a556c734p-19, 0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-13};
  constexpr double kHead[][2] = {// 1/6! .. 1/0!
                                 {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
                                 {0x1.1111111111111p-7, 0x1.1111111111111p-63},
                                 {0x1.5555555555555p-5, 0x1.5555555555555p-59},
                                 {0x1.5555555555555p-3, 0x1.5555555555555p-57},
                                 {0.5, 0.0},
                                 {1.0, 0.0},
                                 {1.0, 0.0}};
  F64x8 tail = broadcast64(0.0);
  for (const double c : kTail) tail = fma(tail, r.hi, broadcast64(c));
  Dd sum = {tail, broadcast64(0.0)};
  for (const auto& c : kHead) sum = add(mul(sum, r), broadcast_dd(c[0], c[1]));
  return sum;
}

// x^e, given ln x; |e ln x| < 700. The error before the one rounding is below 2^-70 of the result, so all but
// one in some 2^17 are correctly rounded.
inline F64x8 power_f64(const Dd& ln_x, const F64x8& e) {
  const Dd p = two_product(e, ln_x.hi);
  const Dd y = quick_two_sum(p.hi, fma(e, ln_x.lo, p.lo));
  const F64x8 k = rint(mul(y.hi, broadcast64(0x1.71547652b82fep0)));    // y = k ln 2 + r
  const F64x8 r_hi = fma(k, broadcast64(-0x1.62e42fefa39efp-1), y.hi);  // exact: the upper bits cancel
  const Dd r = two_sum(r_hi, fma(k, broadcast64(-0x1.abc9e3b39803fp-56), y.lo));
  return mul(exp_reduced(r).hi, power_of_two(k));
}

// The rest of x after q times pi/2, in two parts. pi/2 stands in three: 159 bits, so that even an x next to a
// multiple of pi/2 keeps a good relative error. |q| < 2^30.
ASSAY_INLINE Dd reduce_quarter_turns(const F64x8& x, const F64x8& q) {
  const F64x8 r = fma(q, broadcast64(-0x1.921fb54442d18p0), x);  // exact: the upper bits cancel
  const Dd middle = two_product(q, broadcast64(-0x1.1a62633145c07p-54));
  const Dd sum = two_sum(r, middle.hi);
  return two_sum(sum.hi, fma(q, broadcast64(0x1.f1976b7ed8fbcp-110), add(sum.lo, middle.lo)));
}

// sin(r) = r + (r z P(z) + lo cos r), z = r^2, |r| <= pi/4; Taylor's series to r^17 (the next term is below 2^-62).
ASSAY_INLINE F64x8 sin_reduced(const Dd& r, const F64x8& z) {
  constexpr double kSin[] = {// 1/17!, -1/15! .. -1/3!
                             0x1.952c77030ad4ap-49, -0x1.ae7f3e733b81fp-41, 0x1.6124613a86d09p-33, -0x1.ae64567f544e4p-26,
                             0x1.71de3a556c734p-19, -0x1.a01a01a01a01ap-13, 0x1.1111111111111p-7,  -0x1.5555555555555p-3};
  F64x8 p = broadcast64(0.0);
  for (const double c : kSin) p = fma(p, z, broadcast64(c));
  const F64x8 cos_r = fma(z, broadcast64(-0.5), broadcast64(1.0));
  return add(r.hi, fma(mul(r.hi, z), p, mul(r.lo, cos_r)));
}

// cos(r) = w + ((1 - w) - z/2 + z^2 Q(z) - r lo), w = fl(1 - z/2); Taylor's series to r^18.
ASSAY_INLINE F64x8 cos_reduced(const Dd& r, const F64x8& z) {
  constexpr double kCos[] = {// -1/18!, 1/16! .. 1/4!
                             -0x1.6827863b97d97p-53, 0x1.ae7f3e733b81fp-45, -0x1.93974a8c07c9dp-37, 0x1.1eed8eff8d898p-29,
                             -0x1.27e4fb7789f5cp-22, 0x1.a01a01a01a01ap-16, -0x1.6c16c16c16c17p-10, 0x1.5555555555555p-5};
  F64x8 q = broadcast64(0.0);
  for (const double c : kCos) q = fma(q, z, broadcast64(c));
  const F64x8 half = mul(z, broadcast64(0.5));
  const F64x8 w = sub(broadcast64(1.0), half);
  const F64x8 lost = sub(sub(broadcast64(1.0), w), half);
  const F64x8 small = sub(mul(mul(z, z), q), mul(r.hi, r.lo));
  return add(w, add(lost, small));
}

struct SinCos {
  F64x8 sin;
  F64x8 cos;
};

// Both below 1 ulp, |x| <= 2^29. sin(-0) = -0.
ASSAY_INLINE SinCos sin_cos_f64(const F64x8& x) {
  const F64x8 zeros = broadcast64(0.0);
  const F64x8 q = rint(mul(x, broadcast64(0x1.45f306dc9c883p-1)));
  const Dd r = reduce_quarter_turns(x, q);
  const F64x8 z = mul(r.hi, r.hi);
  const F64x8 s = sin_reduced(r, z);
  const F64x8 c = cos_reduced(r, z);
  // The quadrant q mod 4: odd ones exchange the two; sine is negated in 2 and 3, cosine in 1 and 2.
  const F64x8 quadrant = fma(floor(mul(q, broadcast64(0.25))), broadcast64(-4.0), q);
  const F64x8 odd = fma(floor(mul(q, broadcast64(0.5))), broadcast64(-2.0), q);
  const F64x8 half = broadcast64(0.5);
  const F64x8 sin_magnitude = select_less(odd, half, s, c);
  const F64x8 cos_magnitude = select_less(odd, half, c, s);
  const F64x8 from_middle = sub(quadrant, broadcast64(1.5));  // -1.5, -0.5, 0.5, 1.5
  const F64x8 sin_x = select_less(from_middle, zeros, sin_magnitude, sub(zeros, sin_magnitude));
  const F64x8 cos_x = select_less(mul(from_middle, from_middle), broadcast64(1.0), sub(zeros, cos_magnitude), cos_magnitude);
  return {select_less(zeros, mul(x, x), sin_x, x), cos_x};  // where x^2 = 0, sin x = x
}

}  // namespace
}  // namespace assay
