/* Sixteen f32 lanes in plain C++: the definition that avx2.h and avx512.h must match bit for bit.

   A kernel's body is written once over these names; kernels.cc includes the header of its ISA first.
   Everything is in an anonymous namespace and always inlined: a TU compiled with -mavx512f must leave no
   symbol behind that the linker could take for an older CPU's. C headers only, for the same reason.

   F32x16, U16x16     the vectors; kLanes = 16 (base.h)
   load, store        unaligned; overloads for float and uint16_t; load_once: into a register that several steps use
   load_tail(p, n)    lanes 0..n-1, 0 <= n <= 16; the others are 0 and memory past n is not touched
   load_tail_fill(p, n, fill)   the same with `fill` instead of 0
   store_tail(p, v, n)          writes lanes 0..n-1 alone
   keep_first(v, n)   lanes from n on become +0
   zero, broadcast, lane(v, i)
   add sub mul div sqrt         one rounding each
   fma(a, b, c)       a*b + c; fms(a, b, c) a*b - c; one rounding
   neg                flips the sign bit
   rint               to the nearest integer, ties to even
   max(a, b)          a > b ? a : b, as MAXPS: b where either is NaN; min likewise with <
   scale(p, n)        p * 2^n in one rounding (so underflow is gradual), n an integer in -160..160 or NaN
   equal_bits(a, b)   bit i is set where lane i compares equal; nan_bits(v): where lane i is NaN
   Mask16             a truth per lane: greater(a, b) a > b; differ(a, b) a != b, also where either is NaN
   select(mask, a, b) a where the mask is true, b elsewhere
   tree_sum(v)        l + (l+8), then +4, +2, +1;  tree_max likewise with max
   quarter_sums(v)    of four vectors: lanes 4i..4i+3 hold those of v[i] after l + (l+8) and +4
   finish_sums(q)     of four such: lane 4i + j is the tree_sum of vector i of q[j]
   widen_f16, widen_bf16        U16x16 to F32x16, exact; an f16 NaN is made quiet; widen_f16(p): of the sixteen at p
   narrow_f16, narrow_bf16      to nearest even, denormals kept, NaN quiet with the top payload bits
   interleave(a, b, lo, hi)     lo, hi = a0 b0 a1 b1 ..; deinterleave(lo, hi, a, b) is the inverse
   transpose16(rows)  rows[i] lane j = rows[j] lane i, for sixteen vectors
*/
#pragma once

#include <stdint.h>
#include <string.h>

#include "kernels/simd/base.h"
#include "kernels/simd/float_bits.h"
#include "kernels/simd/fours.h"

namespace assay {
namespace {

struct F32x16 {
  float lane[16];
};
struct U16x16 {
  uint16_t lane[16];
};

ASSAY_INLINE F32x16 broadcast(float x) {
  F32x16 v;
  for (float& lane : v.lane) lane = x;
  return v;
}

ASSAY_INLINE F32x16 zero() {
  return broadcast(0.0f);
}
ASSAY_INLINE float lane(const F32x16& v, int i) {
  return v.lane[i];
}

// Memory. Copies of bytes, so that a signalling NaN stays what it is.

ASSAY_INLINE F32x16 load(const float* p) {
  F32x16 v;
  memcpy(v.lane, p, sizeof v.lane);
  return v;
}
ASSAY_INLINE U16x16 load(const uint16_t* p) {
  U16x16 v;
  memcpy(v.lane, p, sizeof v.lane);
  return v;
}
ASSAY_INLINE F32x16 load_once(const float* p) {
  return load(p);
}
ASSAY_INLINE F32x16 load_tail_fill(const float* p, int64_t n, F32x16 fill) {
  if (n > 0) memcpy(fill.lane, p, static_cast<size_t>(n) * sizeof(float));
  return fill;
}
ASSAY_INLINE F32x16 load_tail(const float* p, int64_t n) {
  return load_tail_fill(p, n, zero());
}
ASSAY_INLINE U16x16 load_tail(const uint16_t* p, int64_t n) {
  U16x16 v = {};
  if (n > 0) memcpy(v.lane, p, static_cast<size_t>(n) * sizeof(uint16_t));
  return v;
}
ASSAY_INLINE void store(float* p, const F32x16& v) {
  memcpy(p, v.lane, sizeof v.lane);
}
ASSAY_INLINE void store(uint16_t* p, const U16x16& v) {
  memcpy(p, v.lane, sizeof v.lane);
}
ASSAY_INLINE void store_tail(float* p, const F32x16& v, int64_t n) {
  if (n > 0) memcpy(p, v.lane, static_cast<size_t>(n) * sizeof(float));
}
ASSAY_INLINE void store_tail(uint16_t* p, const U16x16& v, int64_t n) {
  if (n > 0) memcpy(p, v.lane, static_cast<size_t>(n) * sizeof(uint16_t));
}
ASSAY_INLINE F32x16 keep_first(F32x16 v, int64_t n) {
  for (int64_t i = n; i < kLanes; ++i) v.lane[i] = 0.0f;
  return v;
}

// Arithmetic, lane by lane.

ASSAY_INLINE F32x16 add(F32x16 a, const F32x16& b) {
  by_fours([](F32x4 x, F32x4 y) { return x + y; }, a.lane, b.lane);
  return a;
}
ASSAY_INLINE F32x16 sub(F32x16 a, const F32x16& b) {
  by_fours([](F32x4 x, F32x4 y) { return x - y; }, a.lane, b.lane);
  return a;
}
ASSAY_INLINE F32x16 mul(F32x16 a, const F32x16& b) {
  by_fours([](F32x4 x, F32x4 y) { return x * y; }, a.lane, b.lane);
  return a;
}
ASSAY_INLINE F32x16 div(F32x16 a, const F32x16& b) {
  by_fours([](F32x4 x, F32x4 y) { return x / y; }, a.lane, b.lane);
  return a;
}
ASSAY_INLINE F32x16 fma(F32x16 a, const F32x16& b, const F32x16& c) {
  fma_lanes(a.lane, b.lane, c.lane);
  return a;
}
ASSAY_INLINE F32x16 sqrt(F32x16 a) {
  for (float& x : a.lane) x = __builtin_sqrtf(x);
  return a;
}
ASSAY_INLINE F32x16 neg(F32x16 a) {
  for (float& x : a.lane) x = -x;
  return a;
}
ASSAY_INLINE F32x16 fms(F32x16 a, const F32x16& b, const F32x16& c) {
  return fma(a, b, neg(c));
}
// Below 2^23, from where on every float is an integer, adding 2^23 rounds to one.
ASSAY_INLINE F32x16 rint(F32x16 a) {
  const auto step = [](F32x4 x) {
    const auto sign = reinterpret_cast<U32x4>(x) & 0x80000000u;
    const auto magnitude = reinterpret_cast<F32x4>(reinterpret_cast<U32x4>(x) ^ sign);
    const F32x4 rounded = magnitude < 0x1p23f ? (magnitude + 0x1p23f) - 0x1p23f : magnitude + 0.0f;  // + 0: a NaN made quiet
    return reinterpret_cast<F32x4>(reinterpret_cast<U32x4>(rounded) | sign);
  };
  by_fours(step, a.lane);
  return a;
}
ASSAY_INLINE F32x16 max(F32x16 a, const F32x16& b) {
  by_fours([](F32x4 x, F32x4 y) { return x > y ? x : y; }, a.lane, b.lane);
  return a;
}
ASSAY_INLINE F32x16 min(F32x16 a, const F32x16& b) {
  by_fours([](F32x4 x, F32x4 y) { return x < y ? x : y; }, a.lane, b.lane);
  return a;
}

// 2^n for an integer n in -126..127. Adding 1.5 * 2^23 leaves n in the low bits of the significand; unlike a
// cast to int that is defined for NaN too.
ASSAY_INLINE float power_of_two(float n) {
  return bits_float((float_bits(n + 0x1.8p23f) << 23) + 0x3f800000u);
}

// (p * 2^a) * 2^(n-a), a = trunc(n/2): the first product is exact.
ASSAY_INLINE F32x16 scale(F32x16 p, const F32x16& n) {
  for (int i = 0; i < 16; ++i) {
    const float a = __builtin_truncf(n.lane[i] * 0.5f);
    p.lane[i] = (p.lane[i] * power_of_two(a)) * power_of_two(n.lane[i] - a);
  }
  return p;
}

ASSAY_INLINE uint32_t equal_bits(const F32x16& a, const F32x16& b) {
  uint32_t bits = 0;
  for (int i = 0; i < 16; ++i) bits |= static_cast<uint32_t>(a.lane[i] == b.lane[i]) << i;
  return bits;
}
ASSAY_INLINE uint32_t nan_bits(const F32x16& v) {
  return ~equal_bits(v, v) & 0xffffu;
}

struct Mask16 {
  bool lane[16];
};
ASSAY_INLINE Mask16 greater(const F32x16& a, const F32x16& b) {
  Mask16 mask;
  for (int i = 0; i < 16; ++i) mask.lane[i] = a.lane[i] > b.lane[i];
  return mask;
}
ASSAY_INLINE Mask16 differ(const F32x16& a, const F32x16& b) {
  Mask16 mask;
  for (int i = 0; i < 16; ++i) mask.lane[i] = a.lane[i] != b.lane[i];
  return mask;
}
ASSAY_INLINE F32x16 select(const Mask16& mask, const F32x16& a, F32x16 b) {
  for (int i = 0; i < 16; ++i) b.lane[i] = mask.lane[i] ? a.lane[i] : b.lane[i];
  return b;
}

ASSAY_INLINE float tree_sum(F32x16 v) {
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) v.lane[i] = v.lane[i] + v.lane[i + half];
  }
  return v.lane[0];
}
ASSAY_INLINE float tree_max(F32x16 v) {
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) v.lane[i] = v.lane[i] > v.lane[i + half] ? v.lane[i] : v.lane[i + half];
  }
  return v.lane[0];
}

ASSAY_INLINE F32x16 quarter_sums(const F32x16* v) {
  F32x16 sums;
  for (int i = 0; i < 4; ++i) {
    const float* a = v[i].lane;
    for (int l = 0; l < 4; ++l) sums.lane[4 * i + l] = (a[l] + a[l + 8]) + (a[l + 4] + a[l + 12]);
  }
  return sums;
}
ASSAY_INLINE F32x16 finish_sums(const F32x16* q) {
  F32x16 sums;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const float* a = q[j].lane + 4 * i;
      sums.lane[4 * i + j] = (a[0] + a[2]) + (a[1] + a[3]);
    }
  }
  return sums;
}

// Conversions.

ASSAY_INLINE F32x16 widen_f16(const U16x16& h) {
  F32x16 v;
  for (int i = 0; i < 16; ++i) v.lane[i] = f16_to_f32(h.lane[i]);
  return v;
}
ASSAY_INLINE F32x16 widen_f16(const uint16_t* p) {
  return widen_f16(load(p));
}
ASSAY_INLINE F32x16 widen_bf16(const U16x16& h) {
  uint32_t bits[16];
  for (int i = 0; i < 16; ++i) bits[i] = static_cast<uint32_t>(h.lane[i]) << 16;
  F32x16 v;
  memcpy(v.lane, bits, sizeof v.lane);
  return v;
}
ASSAY_INLINE U16x16 narrow_f16(const F32x16& v) {
  U16x16 h;
  for (int i = 0; i < 16; ++i) h.lane[i] = f32_to_f16(v.lane[i]);
  return h;
}
ASSAY_INLINE U16x16 narrow_bf16(const F32x16& v) {
  U16x16 h;
  for (int i = 0; i < 16; ++i) h.lane[i] = f32_to_bf16(v.lane[i]);
  return h;
}

// Moves.

ASSAY_INLINE void interleave(const F32x16& a, const F32x16& b, F32x16& lo, F32x16& hi) {
  F32x16 out[2];
  for (int i = 0; i < 16; ++i) {
    out[i / 8].lane[2 * i % 16] = a.lane[i];
    out[i / 8].lane[2 * i % 16 + 1] = b.lane[i];
  }
  lo = out[0];
  hi = out[1];
}
ASSAY_INLINE void deinterleave(const F32x16& lo, const F32x16& hi, F32x16& a, F32x16& b) {
  F32x16 out[2];
  for (int i = 0; i < 16; ++i) {
    const F32x16& in = i < 8 ? lo : hi;
    out[0].lane[i] = in.lane[2 * i % 16];
    out[1].lane[i] = in.lane[2 * i % 16 + 1];
  }
  a = out[0];
  b = out[1];
}

template <class V>
ASSAY_INLINE void transpose16(V* rows) {
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < i; ++j) {
      const auto kept = rows[i].lane[j];
      rows[i].lane[j] = rows[j].lane[i];
      rows[j].lane[i] = kept;
    }
  }
}

}  // namespace
}  // namespace assay
