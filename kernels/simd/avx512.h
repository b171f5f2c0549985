/* Sixteen f32 lanes in one AVX-512 register (F, BW, VL). scalar.h says what each name does. */
#pragma once

// GCC 12's header passes deliberately undefined registers, and warns of them wherever it is inlined (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#else
#include <immintrin.h>
#endif

#include <stdint.h>

#include "kernels/simd/base.h"

namespace assay {
namespace {

struct F32x16 {
  __m512 v;
};
struct U16x16 {
  __m256i v;
};

// Lanes 0..n-1, 0 <= n <= 16.
ASSAY_INLINE __mmask16 first_lanes(int64_t n) {
  return static_cast<__mmask16>((1u << n) - 1u);
}

ASSAY_INLINE F32x16 broadcast(float x) {
  return {_mm512_set1_ps(x)};
}
ASSAY_INLINE F32x16 zero() {
  return {_mm512_setzero_ps()};
}
ASSAY_INLINE float lane(F32x16 a, int i) {
  return _mm512_cvtss_f32(_mm512_maskz_compress_ps(static_cast<__mmask16>(1u << i), a.v));
}

ASSAY_INLINE F32x16 load(const float* p) {
  return {_mm512_loadu_ps(p)};
}
// GCC would make the load an operand of each instruction that uses it.
ASSAY_INLINE F32x16 load_once(const float* p) {
  F32x16 v = load(p);
  asm("" : "+v"(v.v));
  return v;
}
ASSAY_INLINE U16x16 load(const uint16_t* p) {
  return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))};
}
ASSAY_INLINE F32x16 load_tail_fill(const float* p, int64_t n, F32x16 fill) {
  return {_mm512_mask_loadu_ps(fill.v, first_lanes(n), p)};
}
ASSAY_INLINE F32x16 load_tail(const float* p, int64_t n) {
  return {_mm512_maskz_loadu_ps(first_lanes(n), p)};
}
ASSAY_INLINE U16x16 load_tail(const uint16_t* p, int64_t n) {
  return {_mm256_maskz_loadu_epi16(first_lanes(n), p)};
}
ASSAY_INLINE void store(float* p, F32x16 a) {
  _mm512_storeu_ps(p, a.v);
}
ASSAY_INLINE void store(uint16_t* p, U16x16 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a.v);
}
ASSAY_INLINE void store_tail(float* p, F32x16 a, int64_t n) {
  _mm512_mask_storeu_ps(p, first_lanes(n), a.v);
}
ASSAY_INLINE void store_tail(uint16_t* p, U16x16 a, int64_t n) {
  _mm256_mask_storeu_epi16(p, first_lanes(n), a.v);
}
ASSAY_INLINE F32x16 keep_first(F32x16 a, int64_t n) {
  return {_mm512_maskz_mov_ps(first_lanes(n), a.v)};
}

ASSAY_INLINE F32x16 add(F32x16 a, F32x16 b) {
  return {_mm512_add_ps(a.v, b.v)};
}
ASSAY_INLINE F32x16 sub(F32x16 a, F32x16 b) {
  return {_mm512_sub_ps(a.v, b.v)};
}
ASSAY_INLINE F32x16 mul(F32x16 a, F32x16 b) {
  return {_mm512_mul_ps(a.v, b.v)};
}
ASSAY_INLINE F32x16 div(F32x16 a, F32x16 b) {
  return {_mm512_div_ps(a.v, b.v)};
}
ASSAY_INLINE F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}
ASSAY_INLINE F32x16 fms(F32x16 a, F32x16 b, F32x16 c) {
  return {_mm512_fmsub_ps(a.v, b.v, c.v)};
}
ASSAY_INLINE F32x16 sqrt(F32x16 a) {
  return {_mm512_sqrt_ps(a.v)};
}
ASSAY_INLINE F32x16 neg(F32x16 a) {
  return {_mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(a.v), _mm512_set1_epi32(INT32_MIN)))};
}
ASSAY_INLINE F32x16 rint(F32x16 a) {
  return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
ASSAY_INLINE F32x16 max(F32x16 a, F32x16 b) {
  return {_mm512_max_ps(a.v, b.v)};
}
ASSAY_INLINE F32x16 min(F32x16 a, F32x16 b) {
  return {_mm512_min_ps(a.v, b.v)};
}
ASSAY_INLINE F32x16 scale(F32x16 p, F32x16 n) {
  return {_mm512_scalef_ps(p.v, n.v)};
}

ASSAY_INLINE uint32_t equal_bits(F32x16 a, F32x16 b) {
  return _mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ);
}
ASSAY_INLINE uint32_t nan_bits(F32x16 a) {
  return _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q);
}

struct Mask16 {
  __mmask16 bits;
};
ASSAY_INLINE Mask16 greater(F32x16 a, F32x16 b) {
  return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_GT_OQ)};
}
ASSAY_INLINE Mask16 differ(F32x16 a, F32x16 b) {
  return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_NEQ_UQ)};
}
ASSAY_INLINE F32x16 select(Mask16 mask, F32x16 a, F32x16 b) {
  return {_mm512_mask_blend_ps(mask.bits, b.v, a.v)};
}

// The halves of a register: lanes 0..7 and 8..15.
ASSAY_INLINE __m256 low_half(F32x16 a) {
  return _mm512_castps512_ps256(a.v);
}
ASSAY_INLINE __m256 high_half(F32x16 a) {
  return _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a.v), 1));
}

ASSAY_INLINE float tree_sum(F32x16 a) {
  const __m256 s8 = _mm256_add_ps(low_half(a), high_half(a));
  const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
}
ASSAY_INLINE float tree_max(F32x16 a) {
  const __m256 s8 = _mm256_max_ps(low_half(a), high_half(a));
  const __m128 s4 = _mm_max_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  const __m128 s2 = _mm_max_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_max_ss(s2, _mm_movehdup_ps(s2)));
}

// Parts of 128 bits, a's first: 0 + 2 and 1 + 3 of each; then 0 + 1 and 2 + 3.
ASSAY_INLINE __m512 add_far_parts(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee));
}
ASSAY_INLINE __m512 add_near_parts(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
}
ASSAY_INLINE F32x16 quarter_sums(const F32x16* v) {
  return {add_near_parts(add_far_parts(v[0].v, v[1].v), add_far_parts(v[2].v, v[3].v))};
}
// Per 128 bits: l + (l+2) of a, then of b; and l + (l+1) of pairs.
ASSAY_INLINE __m512 add_second_pair(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x44), _mm512_shuffle_ps(a, b, 0xee));
}
ASSAY_INLINE __m512 add_neighbours(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x88), _mm512_shuffle_ps(a, b, 0xdd));
}
ASSAY_INLINE F32x16 finish_sums(const F32x16* q) {
  return {add_neighbours(add_second_pair(q[0].v, q[1].v), add_second_pair(q[2].v, q[3].v))};
}

ASSAY_INLINE F32x16 widen_f16(U16x16 h) {
  return {_mm512_cvtph_ps(h.v)};
}
ASSAY_INLINE F32x16 widen_f16(const uint16_t* p) {
  return widen_f16(load(p));
}
ASSAY_INLINE F32x16 widen_bf16(U16x16 h) {
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h.v), 16))};
}
ASSAY_INLINE U16x16 narrow_f16(F32x16 a) {
  return {_mm512_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT)};
}

// bits + 0x7fff + (bit 16), then the upper half: nearest even. Not VCVTNEPS2BF16, which flushes denormals.
ASSAY_INLINE U16x16 narrow_bf16(F32x16 a) {
  const __m512i bits = _mm512_castps_si512(a.v);
  const __m512i upper = _mm512_srli_epi32(bits, 16);
  const __m512i odd = _mm512_and_si512(upper, _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff))), 16);
  const __mmask16 nan = _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q);
  return {_mm512_cvtepi32_epi16(_mm512_mask_or_epi32(rounded, nan, upper, _mm512_set1_epi32(0x40)))};
}

ASSAY_INLINE void interleave(F32x16 a, F32x16 b, F32x16& lo, F32x16& hi) {
  const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  lo.v = _mm512_permutex2var_ps(a.v, low, b.v);
  hi.v = _mm512_permutex2var_ps(a.v, high, b.v);
}
ASSAY_INLINE void interleave(U16x16 a, U16x16 b, U16x16& lo, U16x16& hi) {
  const __m256i low = _mm256_setr_epi16(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m256i high = _mm256_setr_epi16(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  lo.v = _mm256_permutex2var_epi16(a.v, low, b.v);
  hi.v = _mm256_permutex2var_epi16(a.v, high, b.v);
}
ASSAY_INLINE void deinterleave(F32x16 lo, F32x16 hi, F32x16& a, F32x16& b) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  a.v = _mm512_permutex2var_ps(lo.v, even, hi.v);
  b.v = _mm512_permutex2var_ps(lo.v, odd, hi.v);
}

}  // namespace
}  // namespace assay

#include "kernels/simd/transpose.h"
