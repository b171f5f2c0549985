/* Sixteen bytes beside the sixteen floats of kernels/simd/avx2.h. bytes_scalar.h says what each name does. */
#pragma once

#include "kernels/simd/avx2.h"

#include "kernels/formats/bytes_x86.h"

namespace assay {
namespace {

struct Magnitudes {
  __m256i lo;
  __m256i hi;
};

ASSAY_INLINE U8x16 bytes_where(uint32_t bits, int k) {
  const __m128i low_to_eight = _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
  const __m128i own_bit = _mm_set1_epi64x(static_cast<int64_t>(0x8040201008040201u));
  const __m128i spread = _mm_shuffle_epi8(_mm_cvtsi32_si128(static_cast<int>(bits)), low_to_eight);
  const __m128i set = _mm_cmpeq_epi8(_mm_and_si128(spread, own_bit), own_bit);
  return {_mm_and_si128(set, all_bytes(k))};
}

ASSAY_INLINE F32x16 widen_u8(U8x16 a) {
  return {_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(a.v)), _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(a.v, 8)))};
}
ASSAY_INLINE F32x16 widen_s8(U8x16 a) {
  return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(a.v)), _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(a.v, 8)))};
}
// The packs saturate, which values of -128..127 never meet, and work inside 128-bit halves: words 0-3 8-11 4-7 12-15.
ASSAY_INLINE U8x16 narrow_s8(__m256i lo, __m256i hi) {
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(lo, hi), 0xd8);
  return {_mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1))};
}
ASSAY_INLINE U8x16 round_s8(F32x16 a) {
  return narrow_s8(_mm256_cvtps_epi32(a.lo), _mm256_cvtps_epi32(a.hi));
}
ASSAY_INLINE U8x16 trunc_s8(F32x16 a) {
  return narrow_s8(_mm256_cvttps_epi32(a.lo), _mm256_cvttps_epi32(a.hi));
}

ASSAY_INLINE F32x16 magnitude(F32x16 a) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_andnot_ps(sign, a.lo), _mm256_andnot_ps(sign, a.hi)};
}
ASSAY_INLINE __m256 with_sign_of(__m256 a, __m256 s) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return _mm256_or_ps(_mm256_andnot_ps(sign, a), _mm256_and_ps(sign, s));
}
ASSAY_INLINE F32x16 with_sign_of(F32x16 a, F32x16 s) {
  return {with_sign_of(a.lo, s.lo), with_sign_of(a.hi, s.hi)};
}
ASSAY_INLINE Magnitudes no_magnitudes() {
  return {_mm256_setzero_si256(), _mm256_setzero_si256()};
}
ASSAY_INLINE Magnitudes larger(Magnitudes m, F32x16 a) {
  const F32x16 x = magnitude(a);
  return {_mm256_max_epi32(m.lo, _mm256_castps_si256(x.lo)), _mm256_max_epi32(m.hi, _mm256_castps_si256(x.hi))};
}
ASSAY_INLINE uint32_t largest(Magnitudes m) {
  const __m256i m8 = _mm256_max_epi32(m.lo, m.hi);
  const __m128i m4 = _mm_max_epi32(_mm256_castsi256_si128(m8), _mm256_extracti128_si256(m8, 1));
  const __m128i m2 = _mm_max_epi32(m4, _mm_unpackhi_epi64(m4, m4));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_max_epi32(m2, _mm_shuffle_epi32(m2, 1))));
}

}  // namespace
}  // namespace assay
