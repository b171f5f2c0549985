/* Sixteen bytes in an SSE register: what bytes_avx2.h and bytes_avx512.h share. bytes_scalar.h says what each name does. */
#pragma once

#include <stdint.h>
#include <string.h>

namespace assay {
namespace {

struct U8x16 {
  __m128i v;
};

ASSAY_INLINE float bits_float(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
ASSAY_INLINE uint32_t float_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

ASSAY_INLINE __m128i all_bytes(int k) {
  return _mm_set1_epi8(static_cast<char>(k));
}

ASSAY_INLINE U8x16 load_bytes(const void* p) {
  return {_mm_loadu_si128(static_cast<const __m128i*>(p))};
}
ASSAY_INLINE void store_bytes(void* p, U8x16 a) {
  _mm_storeu_si128(static_cast<__m128i*>(p), a.v);
}
ASSAY_INLINE U8x16 bits_and(U8x16 a, int mask) {
  return {_mm_and_si128(a.v, all_bytes(mask))};
}
ASSAY_INLINE U8x16 bits_or(U8x16 a, U8x16 b) {
  return {_mm_or_si128(a.v, b.v)};
}
// Words are shifted: the mask takes away what came from the neighbour.
ASSAY_INLINE U8x16 shift_left(U8x16 a, int n) {
  return {_mm_and_si128(_mm_slli_epi16(a.v, n), all_bytes(0xff << n))};
}
ASSAY_INLINE U8x16 shift_right(U8x16 a, int n) {
  return {_mm_and_si128(_mm_srli_epi16(a.v, n), all_bytes(0xff >> n))};
}
ASSAY_INLINE U8x16 minus(U8x16 a, int k) {
  return {_mm_sub_epi8(a.v, all_bytes(k))};
}
// The wanted bit moves to the top of its byte.
ASSAY_INLINE uint32_t bit_of_each(U8x16 a, int n) {
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_slli_epi16(a.v, 7 - n)));
}
// Sums of unsigned bytes are one instruction: 128 is added to each and taken off the sum.
ASSAY_INLINE int sum_s8(U8x16 a) {
  const __m128i sums = _mm_sad_epu8(_mm_xor_si128(a.v, all_bytes(0x80)), _mm_setzero_si128());
  return _mm_cvtsi128_si32(sums) + _mm_extract_epi16(sums, 4) - 16 * 128;
}

}  // namespace
}  // namespace assay
