/* Sixteen bytes beside the sixteen floats of kernels/simd/avx512.h. bytes_scalar.h says what each name does. */
#pragma once

#include "kernels/simd/avx512.h"

#include "kernels/formats/bytes_x86.h"

namespace assay {
namespace {

struct Magnitudes {
  __m512i v;
};

ASSAY_INLINE U8x16 bytes_where(uint32_t bits, int k) {
  return {_mm_maskz_set1_epi8(static_cast<__mmask16>(bits), static_cast<char>(k))};
}

ASSAY_INLINE F32x16 widen_u8(U8x16 a) {
  return {_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(a.v))};
}
ASSAY_INLINE F32x16 widen_s8(U8x16 a) {
  return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(a.v))};
}
ASSAY_INLINE U8x16 round_s8(F32x16 a) {
  return {_mm512_cvtepi32_epi8(_mm512_cvtps_epi32(a.v))};
}
ASSAY_INLINE U8x16 trunc_s8(F32x16 a) {
  return {_mm512_cvtepi32_epi8(_mm512_cvttps_epi32(a.v))};
}

ASSAY_INLINE F32x16 magnitude(F32x16 a) {
  return {_mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(a.v), _mm512_set1_epi32(INT32_MAX)))};
}
// Bit by bit: the sign of s, the rest of a.
ASSAY_INLINE F32x16 with_sign_of(F32x16 a, F32x16 s) {
  const __m512i sign = _mm512_set1_epi32(INT32_MIN);
  return {_mm512_castsi512_ps(_mm512_ternarylogic_epi32(sign, _mm512_castps_si512(s.v), _mm512_castps_si512(a.v), 0xca))};
}
ASSAY_INLINE Magnitudes no_magnitudes() {
  return {_mm512_setzero_si512()};
}
ASSAY_INLINE Magnitudes larger(Magnitudes m, F32x16 a) {
  return {_mm512_max_epi32(m.v, _mm512_castps_si512(magnitude(a).v))};
}
ASSAY_INLINE uint32_t largest(Magnitudes m) {
  const __m256i m8 = _mm256_max_epi32(_mm512_castsi512_si256(m.v), _mm512_extracti64x4_epi64(m.v, 1));
  const __m128i m4 = _mm_max_epi32(_mm256_castsi256_si128(m8), _mm256_extracti128_si256(m8, 1));
  const __m128i m2 = _mm_max_epi32(m4, _mm_unpackhi_epi64(m4, m4));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_max_epi32(m2, _mm_shuffle_epi32(m2, 1))));
}

}  // namespace
}  // namespace assay
