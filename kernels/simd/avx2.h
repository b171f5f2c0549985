/* Sixteen f32 lanes in two AVX registers (AVX2, FMA, F16C). scalar.h says what each name does. */
#pragma once

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "kernels/simd/base.h"

namespace assay {
namespace {

struct F32x16 {
  __m256 lo;  // lanes 0..7
  __m256 hi;  // lanes 8..15
};
struct U16x16 {
  __m256i v;
};

// All ones in lanes first..first+7 that lie below n.
ASSAY_INLINE __m256i lanes_below(int64_t n, int first) {
  const __m256i index = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(first));
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), index);
}

ASSAY_INLINE F32x16 broadcast(float x) {
  return {_mm256_set1_ps(x), _mm256_set1_ps(x)};
}
ASSAY_INLINE F32x16 zero() {
  return {_mm256_setzero_ps(), _mm256_setzero_ps()};
}
ASSAY_INLINE float lane(F32x16 a, int i) {
  const __m256 half = i < 8 ? a.lo : a.hi;
  return _mm256_cvtss_f32(_mm256_permutevar8x32_ps(half, _mm256_set1_epi32(i & 7)));
}

ASSAY_INLINE F32x16 load(const float* p) {
  return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}
// GCC would make the load an operand of each instruction that uses it.
ASSAY_INLINE F32x16 load_once(const float* p) {
  F32x16 v = load(p);
  asm("" : "+x"(v.lo), "+x"(v.hi));
  return v;
}
ASSAY_INLINE U16x16 load(const uint16_t* p) {
  return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))};
}
ASSAY_INLINE F32x16 load_tail(const float* p, int64_t n) {
  return {_mm256_maskload_ps(p, lanes_below(n, 0)), _mm256_maskload_ps(p + 8, lanes_below(n, 8))};
}
ASSAY_INLINE F32x16 load_tail_fill(const float* p, int64_t n, F32x16 fill) {
  const F32x16 v = load_tail(p, n);
  return {_mm256_blendv_ps(fill.lo, v.lo, _mm256_castsi256_ps(lanes_below(n, 0))),
          _mm256_blendv_ps(fill.hi, v.hi, _mm256_castsi256_ps(lanes_below(n, 8)))};
}
// AVX2 masks no 16-bit words.
ASSAY_INLINE U16x16 load_tail(const uint16_t* p, int64_t n) {
  uint16_t lanes[16] = {};
  if (n > 0) memcpy(lanes, p, static_cast<size_t>(n) * sizeof(uint16_t));
  return load(lanes);
}
ASSAY_INLINE void store(float* p, F32x16 a) {
  _mm256_storeu_ps(p, a.lo);
  _mm256_storeu_ps(p + 8, a.hi);
}
ASSAY_INLINE void store(uint16_t* p, U16x16 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a.v);
}
ASSAY_INLINE void store_tail(float* p, F32x16 a, int64_t n) {
  _mm256_maskstore_ps(p, lanes_below(n, 0), a.lo);
  _mm256_maskstore_ps(p + 8, lanes_below(n, 8), a.hi);
}
ASSAY_INLINE void store_tail(uint16_t* p, U16x16 a, int64_t n) {
  uint16_t lanes[16];
  store(lanes, a);
  if (n > 0) memcpy(p, lanes, static_cast<size_t>(n) * sizeof(uint16_t));
}
ASSAY_INLINE F32x16 keep_first(F32x16 a, int64_t n) {
  return {_mm256_and_ps(a.lo, _mm256_castsi256_ps(lanes_below(n, 0))),
          _mm256_and_ps(a.hi, _mm256_castsi256_ps(lanes_below(n, 8)))};
}

ASSAY_INLINE F32x16 add(F32x16 a, F32x16 b) {
  return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
}
ASSAY_INLINE F32x16 sub(F32x16 a, F32x16 b) {
  return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)};
}
ASSAY_INLINE F32x16 mul(F32x16 a, F32x16 b) {
  return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
}
ASSAY_INLINE F32x16 div(F32x16 a, F32x16 b) {
  return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)};
}
ASSAY_INLINE F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
  return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}
ASSAY_INLINE F32x16 fms(F32x16 a, F32x16 b, F32x16 c) {
  return {_mm256_fmsub_ps(a.lo, b.lo, c.lo), _mm256_fmsub_ps(a.hi, b.hi, c.hi)};
}
ASSAY_INLINE F32x16 sqrt(F32x16 a) {
  return {_mm256_sqrt_ps(a.lo), _mm256_sqrt_ps(a.hi)};
}
ASSAY_INLINE F32x16 neg(F32x16 a) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_xor_ps(a.lo, sign), _mm256_xor_ps(a.hi, sign)};
}
ASSAY_INLINE F32x16 rint(F32x16 a) {
  return {_mm256_round_ps(a.lo, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
          _mm256_round_ps(a.hi, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
ASSAY_INLINE F32x16 max(F32x16 a, F32x16 b) {
  return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)};
}
ASSAY_INLINE F32x16 min(F32x16 a, F32x16 b) {
  return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)};
}

// 2^n for an integer n in -126..127: adding 1.5 * 2^23 leaves n in the low bits of the significand.
ASSAY_INLINE __m256 power_of_two(__m256 n) {
  const __m256i low = _mm256_castps_si256(_mm256_add_ps(n, _mm256_set1_ps(0x1.8p23f)));
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_slli_epi32(low, 23), _mm256_set1_epi32(0x3f800000)));
}
ASSAY_INLINE __m256 scale(__m256 p, __m256 n) {
  const __m256 a = _mm256_round_ps(_mm256_mul_ps(n, _mm256_set1_ps(0.5f)), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  return _mm256_mul_ps(_mm256_mul_ps(p, power_of_two(a)), power_of_two(_mm256_sub_ps(n, a)));
}
ASSAY_INLINE F32x16 scale(F32x16 p, F32x16 n) {
  return {scale(p.lo, n.lo), scale(p.hi, n.hi)};
}

ASSAY_INLINE uint32_t join_bits(__m256 lo, __m256 hi) {
  return static_cast<uint32_t>(_mm256_movemask_ps(lo)) | static_cast<uint32_t>(_mm256_movemask_ps(hi)) << 8;
}
ASSAY_INLINE uint32_t equal_bits(F32x16 a, F32x16 b) {
  return join_bits(_mm256_cmp_ps(a.lo, b.lo, _CMP_EQ_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_EQ_OQ));
}
ASSAY_INLINE uint32_t nan_bits(F32x16 a) {
  return join_bits(_mm256_cmp_ps(a.lo, a.lo, _CMP_UNORD_Q), _mm256_cmp_ps(a.hi, a.hi, _CMP_UNORD_Q));
}

// All bits of a lane, or none.
struct Mask16 {
  __m256 lo;
  __m256 hi;
};
ASSAY_INLINE Mask16 greater(F32x16 a, F32x16 b) {
  return {_mm256_cmp_ps(a.lo, b.lo, _CMP_GT_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_GT_OQ)};
}
ASSAY_INLINE Mask16 differ(F32x16 a, F32x16 b) {
  return {_mm256_cmp_ps(a.lo, b.lo, _CMP_NEQ_UQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_NEQ_UQ)};
}
ASSAY_INLINE F32x16 select(Mask16 mask, F32x16 a, F32x16 b) {
  return {_mm256_blendv_ps(b.lo, a.lo, mask.lo), _mm256_blendv_ps(b.hi, a.hi, mask.hi)};
}

ASSAY_INLINE float tree_sum(F32x16 a) {
  const __m256 s8 = _mm256_add_ps(a.lo, a.hi);
  const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
}
ASSAY_INLINE float tree_max(F32x16 a) {
  const __m256 s8 = _mm256_max_ps(a.lo, a.hi);
  const __m128 s4 = _mm_max_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  const __m128 s2 = _mm_max_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_max_ss(s2, _mm_movehdup_ps(s2)));
}

// The halves of a and b, each added up: a in the lower half of the result.
ASSAY_INLINE __m256 add_halves(__m256 a, __m256 b) {
  return _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
}
ASSAY_INLINE F32x16 quarter_sums(const F32x16* v) {
  return {add_halves(_mm256_add_ps(v[0].lo, v[0].hi), _mm256_add_ps(v[1].lo, v[1].hi)),
          add_halves(_mm256_add_ps(v[2].lo, v[2].hi), _mm256_add_ps(v[3].lo, v[3].hi))};
}
// Per 128 bits: l + (l+2) of a, then of b; and l + (l+1) of pairs.
ASSAY_INLINE __m256 add_second_pair(__m256 a, __m256 b) {
  return _mm256_add_ps(_mm256_shuffle_ps(a, b, 0x44), _mm256_shuffle_ps(a, b, 0xee));
}
ASSAY_INLINE __m256 add_neighbours(__m256 a, __m256 b) {
  return _mm256_add_ps(_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xdd));
}
ASSAY_INLINE F32x16 finish_sums(const F32x16* q) {
  return {add_neighbours(add_second_pair(q[0].lo, q[1].lo), add_second_pair(q[2].lo, q[3].lo)),
          add_neighbours(add_second_pair(q[0].hi, q[1].hi), add_second_pair(q[2].hi, q[3].hi))};
}

ASSAY_INLINE F32x16 widen_f16(U16x16 h) {
  return {_mm256_cvtph_ps(_mm256_castsi256_si128(h.v)), _mm256_cvtph_ps(_mm256_extracti128_si256(h.v, 1))};
}
// GCC would load both halves together and take them apart again.
ASSAY_INLINE F32x16 widen_f16(const uint16_t* p) {
  const __m128i* halves = reinterpret_cast<const __m128i*>(p);
  return {_mm256_cvtph_ps(_mm_loadu_si128(halves)), _mm256_cvtph_ps(_mm_loadu_si128(halves + 1))};
}
ASSAY_INLINE F32x16 widen_bf16(U16x16 h) {
  const __m256i lo = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(h.v));
  const __m256i hi = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(h.v, 1));
  return {_mm256_castsi256_ps(_mm256_slli_epi32(lo, 16)), _mm256_castsi256_ps(_mm256_slli_epi32(hi, 16))};
}
ASSAY_INLINE U16x16 narrow_f16(F32x16 a) {
  return {_mm256_set_m128i(_mm256_cvtps_ph(a.hi, _MM_FROUND_TO_NEAREST_INT), _mm256_cvtps_ph(a.lo, _MM_FROUND_TO_NEAREST_INT))};
}

// bits + 0x7fff + (bit 16), then the upper half: nearest even.
ASSAY_INLINE __m256i bf16_in_words(__m256 a) {
  const __m256i bits = _mm256_castps_si256(a);
  const __m256i upper = _mm256_srli_epi32(bits, 16);
  const __m256i odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff))), 16);
  const __m256i quiet = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
  return _mm256_blendv_epi8(rounded, quiet, _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_UNORD_Q)));
}
ASSAY_INLINE U16x16 narrow_bf16(F32x16 a) {
  const __m256i packed = _mm256_packus_epi32(bf16_in_words(a.lo), bf16_in_words(a.hi));
  return {_mm256_permute4x64_epi64(packed, 0xd8)};  // the pack works inside 128-bit halves
}

// The unpacks work inside 128-bit halves; the permutations put the halves in order.
ASSAY_INLINE void interleave(__m256 a, __m256 b, __m256& lo, __m256& hi) {
  const __m256 low = _mm256_unpacklo_ps(a, b);
  const __m256 high = _mm256_unpackhi_ps(a, b);
  lo = _mm256_permute2f128_ps(low, high, 0x20);
  hi = _mm256_permute2f128_ps(low, high, 0x31);
}
ASSAY_INLINE void interleave(F32x16 a, F32x16 b, F32x16& lo, F32x16& hi) {
  F32x16 first;
  F32x16 second;
  interleave(a.lo, b.lo, first.lo, first.hi);
  interleave(a.hi, b.hi, second.lo, second.hi);
  lo = first;
  hi = second;
}
ASSAY_INLINE void interleave(U16x16 a, U16x16 b, U16x16& lo, U16x16& hi) {
  const __m256i low = _mm256_unpacklo_epi16(a.v, b.v);
  const __m256i high = _mm256_unpackhi_epi16(a.v, b.v);
  lo.v = _mm256_permute2x128_si256(low, high, 0x20);
  hi.v = _mm256_permute2x128_si256(low, high, 0x31);
}
// Even and odd lanes of sixteen.
ASSAY_INLINE void deinterleave(__m256 lo, __m256 hi, __m256& a, __m256& b) {
  const __m256 even = _mm256_shuffle_ps(lo, hi, 0x88);
  const __m256 odd = _mm256_shuffle_ps(lo, hi, 0xdd);
  a = _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(even), 0xd8));
  b = _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(odd), 0xd8));
}
ASSAY_INLINE void deinterleave(F32x16 lo, F32x16 hi, F32x16& a, F32x16& b) {
  F32x16 even;
  F32x16 odd;
  deinterleave(lo.lo, lo.hi, even.lo, odd.lo);
  deinterleave(hi.lo, hi.hi, even.hi, odd.hi);
  a = even;
  b = odd;
}

}  // namespace
}  // namespace assay

#include "kernels/simd/transpose.h"
