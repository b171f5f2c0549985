/* Eight f64 lanes in plain C++, for the tables that are computed in double: the definition that avx2_f64.h and
   avx512_f64.h must match bit for bit. After scalar.h.

   F64x8; broadcast64, load64, store64
   add sub mul div fma rint floor   one rounding each (rint: ties to even)
   fms(a, b, c)                     a*b - c, one rounding
   select_less(a, b, x, y)          a < b ? x : y
   power_of_two(n)                  2^n, n an integer in -1022..1023
   round_to_f32(a)                  the nearest f32, as f64
   store_f32(p, a, n)               rounds to f32 and writes lanes 0..n-1, n <= 8
*/
#pragma once

#include <stdint.h>
#include <string.h>

namespace assay {
namespace {

inline constexpr int64_t kLanes64 = 8;

struct F64x8 {
  double lane[8];
};

ASSAY_INLINE F64x8 broadcast64(double x) {
  F64x8 v;
  for (double& lane : v.lane) lane = x;
  return v;
}
ASSAY_INLINE F64x8 load64(const double* p) {
  F64x8 v;
  memcpy(v.lane, p, sizeof v.lane);
  return v;
}
ASSAY_INLINE void store64(double* p, const F64x8& v) {
  memcpy(p, v.lane, sizeof v.lane);
}

ASSAY_INLINE F64x8 add(F64x8 a, const F64x8& b) {
  for (int i = 0; i < 8; ++i) a.lane[i] += b.lane[i];
  return a;
}
ASSAY_INLINE F64x8 sub(F64x8 a, const F64x8& b) {
  for (int i = 0; i < 8; ++i) a.lane[i] -= b.lane[i];
  return a;
}
ASSAY_INLINE F64x8 mul(F64x8 a, const F64x8& b) {
  for (int i = 0; i < 8; ++i) a.lane[i] *= b.lane[i];
  return a;
}
ASSAY_INLINE F64x8 div(F64x8 a, const F64x8& b) {
  for (int i = 0; i < 8; ++i) a.lane[i] /= b.lane[i];
  return a;
}
ASSAY_INLINE F64x8 fma(F64x8 a, const F64x8& b, const F64x8& c) {
  for (int i = 0; i < 8; ++i) a.lane[i] = __builtin_fma(a.lane[i], b.lane[i], c.lane[i]);
  return a;
}
ASSAY_INLINE F64x8 fms(F64x8 a, const F64x8& b, const F64x8& c) {
  for (int i = 0; i < 8; ++i) a.lane[i] = __builtin_fma(a.lane[i], b.lane[i], -c.lane[i]);
  return a;
}
ASSAY_INLINE F64x8 rint(F64x8 a) {
  for (double& x : a.lane) x = __builtin_rint(x);
  return a;
}
ASSAY_INLINE F64x8 floor(F64x8 a) {
  for (double& x : a.lane) x = __builtin_floor(x);
  return a;
}
ASSAY_INLINE F64x8 select_less(const F64x8& a, const F64x8& b, const F64x8& x, F64x8 y) {
  for (int i = 0; i < 8; ++i) y.lane[i] = a.lane[i] < b.lane[i] ? x.lane[i] : y.lane[i];
  return y;
}

// Adding 1.5 * 2^52 leaves n in the low bits of the significand.
ASSAY_INLINE F64x8 power_of_two(F64x8 n) {
  for (double& x : n.lane) {
    const double shifted = x + 0x1.8p52;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 52) + 0x3ff0000000000000u;
    memcpy(&x, &bits, sizeof bits);
  }
  return n;
}
ASSAY_INLINE F64x8 round_to_f32(F64x8 a) {
  for (double& x : a.lane) x = static_cast<double>(static_cast<float>(x));
  return a;
}
ASSAY_INLINE void store_f32(float* p, const F64x8& a, int64_t n) {
  for (int64_t i = 0; i < n; ++i) p[i] = static_cast<float>(a.lane[i]);
}

}  // namespace
}  // namespace assay
