/* The sum of a q8_0 block's codes. After avx2.h or lanes512.h. */
#pragma once

namespace assay {
namespace {

// VPSADBW adds bytes without sign: 128 is added to each of the 32 and taken off the sum.
ASSAY_INLINE int32_t code_sum(const int8_t* q) {
  const __m256i bytes = _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(q)), _mm256_set1_epi8(-128));
  const __m256i s4 = _mm256_sad_epu8(bytes, _mm256_setzero_si256());
  const __m128i s2 = _mm_add_epi32(_mm256_castsi256_si128(s4), _mm256_extracti128_si256(s4, 1));
  return _mm_cvtsi128_si32(_mm_add_epi32(s2, _mm_unpackhi_epi64(s2, s2))) - 32 * 128;
}

}  // namespace
}  // namespace assay
