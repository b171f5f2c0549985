/* Sixteen bytes in plain C++, beside the sixteen floats of kernels/simd/scalar.h: the definition that bytes_avx2.h and
   bytes_avx512.h must match bit for bit. A body over block formats is written once over both; its ISA files include one of the
   three headers first.

   U8x16                      the vector: bytes without sign, or two's complement
   load_bytes, store_bytes    sixteen bytes, any alignment
   bits_and(v, mask), bits_or(a, b)
   shift_left(v, n), shift_right(v, n)   inside each byte, zeros come in; n in 1..7
   minus(v, k)                each byte less k, modulo 256
   bytes_where(bits, k)       byte i is k where bit i of the low sixteen is set, else 0
   bit_of_each(v, n)          bit i of the result is bit n of byte i
   widen_u8, widen_s8         to F32x16, exact
   round_s8(v)                whole bytes by nearest even; v in -128..127
   trunc_s8(v)                the same toward zero
   sum_s8(v)                  the sum of sixteen signed bytes

   magnitude(v)               |v|, the sign bit cleared
   with_sign_of(v, s)         v with the sign bit of s
   Magnitudes                 sixteen running maxima of |x| as bits: as integers NaN > infinity > every finite value
   no_magnitudes(), larger(m, v), largest(m)   start, take in v, the bits of the largest
*/
#pragma once

#include "kernels/simd/scalar.h"

namespace assay {
namespace {

struct U8x16 {
  uint8_t lane[16];
};
struct Magnitudes {
  uint32_t lane[16];
};

ASSAY_INLINE U8x16 load_bytes(const void* p) {
  U8x16 v;
  memcpy(v.lane, p, sizeof v.lane);
  return v;
}
ASSAY_INLINE void store_bytes(void* p, const U8x16& v) {
  memcpy(p, v.lane, sizeof v.lane);
}

ASSAY_INLINE U8x16 bits_and(U8x16 v, int mask) {
  for (uint8_t& x : v.lane) x = static_cast<uint8_t>(x & mask);
  return v;
}
ASSAY_INLINE U8x16 bits_or(U8x16 a, const U8x16& b) {
  for (int i = 0; i < 16; ++i) a.lane[i] = static_cast<uint8_t>(a.lane[i] | b.lane[i]);
  return a;
}
ASSAY_INLINE U8x16 shift_left(U8x16 v, int n) {
  for (uint8_t& x : v.lane) x = static_cast<uint8_t>(x << n);
  return v;
}
ASSAY_INLINE U8x16 shift_right(U8x16 v, int n) {
  for (uint8_t& x : v.lane) x = static_cast<uint8_t>(x >> n);
  return v;
}
ASSAY_INLINE U8x16 minus(U8x16 v, int k) {
  for (uint8_t& x : v.lane) x = static_cast<uint8_t>(x - k);
  return v;
}
ASSAY_INLINE U8x16 bytes_where(uint32_t bits, int k) {
  U8x16 v;
  for (int i = 0; i < 16; ++i) v.lane[i] = static_cast<uint8_t>(((bits >> i) & 1u) != 0 ? k : 0);
  return v;
}
ASSAY_INLINE uint32_t bit_of_each(const U8x16& v, int n) {
  uint32_t bits = 0;
  for (int i = 0; i < 16; ++i) bits |= ((static_cast<uint32_t>(v.lane[i]) >> n) & 1u) << i;
  return bits;
}

ASSAY_INLINE F32x16 widen_u8(const U8x16& v) {
  F32x16 out;
  for (int i = 0; i < 16; ++i) out.lane[i] = static_cast<float>(v.lane[i]);
  return out;
}
ASSAY_INLINE F32x16 widen_s8(const U8x16& v) {
  F32x16 out;
  for (int i = 0; i < 16; ++i) out.lane[i] = static_cast<float>(static_cast<int8_t>(v.lane[i]));
  return out;
}
ASSAY_INLINE U8x16 trunc_s8(const F32x16& v) {
  U8x16 out;
  for (int i = 0; i < 16; ++i) out.lane[i] = static_cast<uint8_t>(static_cast<int>(v.lane[i]));
  return out;
}
ASSAY_INLINE U8x16 round_s8(const F32x16& v) {
  return trunc_s8(rint(v));
}
ASSAY_INLINE int sum_s8(const U8x16& v) {
  int sum = 0;
  for (uint8_t x : v.lane) sum += static_cast<int8_t>(x);
  return sum;
}

ASSAY_INLINE F32x16 magnitude(F32x16 v) {
  for (float& x : v.lane) x = bits_float(float_bits(x) & 0x7fffffffu);
  return v;
}
ASSAY_INLINE F32x16 with_sign_of(F32x16 v, const F32x16& s) {
  for (int i = 0; i < 16; ++i) v.lane[i] = __builtin_copysignf(v.lane[i], s.lane[i]);
  return v;
}
ASSAY_INLINE Magnitudes no_magnitudes() {
  return {};
}
ASSAY_INLINE Magnitudes larger(Magnitudes m, const F32x16& v) {
  for (int i = 0; i < 16; ++i) {
    const uint32_t bits = float_bits(v.lane[i]) & 0x7fffffffu;
    m.lane[i] = bits > m.lane[i] ? bits : m.lane[i];
  }
  return m;
}
ASSAY_INLINE uint32_t largest(const Magnitudes& m) {
  uint32_t most = 0;
  for (uint32_t bits : m.lane) most = bits > most ? bits : most;
  return most;
}

}  // namespace
}  // namespace assay
