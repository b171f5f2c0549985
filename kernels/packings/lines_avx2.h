/* Sixteen rows of bytes to lines of sixteen words, four lines at a time. lines_scalar.h says what each name does. After a header
   that includes immintrin.h and defines ASSAY_INLINE; needs AVX2. */
#pragma once

#include <stdint.h>
#include <string.h>

namespace assay {
namespace {

// Four words of eight rows; in the halves of v[i] those of rows i and i + 4. Unpacking exchanges row and word in each half: a
// 4 x 4 transposition, its own inverse.
struct Quad {
  __m256i v[4];
};
ASSAY_INLINE Quad transposed(Quad a) {
  const __m256i t0 = _mm256_unpacklo_epi32(a.v[0], a.v[1]);
  const __m256i t1 = _mm256_unpackhi_epi32(a.v[0], a.v[1]);
  const __m256i t2 = _mm256_unpacklo_epi32(a.v[2], a.v[3]);
  const __m256i t3 = _mm256_unpackhi_epi32(a.v[2], a.v[3]);
  return {{_mm256_unpacklo_epi64(t0, t2), _mm256_unpackhi_epi64(t0, t2), _mm256_unpacklo_epi64(t1, t3),
           _mm256_unpackhi_epi64(t1, t3)}};
}

ASSAY_INLINE __m128i load_quarter(const uint8_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
ASSAY_INLINE void store_quarter(uint8_t* p, __m128i v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
}

template <int N, int Stride = 1>
ASSAY_INLINE void rows_to_lines(const uint8_t* const* rows, uint8_t (*lines)[16][4]) {
  if constexpr (N == 1) {  // as q5_0 has
    for (int r = 0; r < 16; ++r) memcpy(lines[0][r], rows[r], 4);
  } else {
    static_assert(N % 4 == 0);
    for (int half = 0; half < 16; half += 8) {
      for (int l = 0; l < N; l += 4) {
        Quad q;
        for (int i = 0; i < 4; ++i) {
          q.v[i] = _mm256_set_m128i(load_quarter(rows[half + i + 4] + 4 * l), load_quarter(rows[half + i] + 4 * l));
        }
        q = transposed(q);
        for (int i = 0; i < 4; ++i) _mm256_storeu_si256(reinterpret_cast<__m256i*>(lines[(l + i) * Stride][half]), q.v[i]);
      }
    }
  }
}

template <int N, int Stride = 1>
ASSAY_INLINE void lines_to_rows(const uint8_t (*lines)[16][4], uint8_t* const* rows) {
  static_assert(N % 4 == 0);
  for (int half = 0; half < 16; half += 8) {
    for (int l = 0; l < N; l += 4) {
      Quad q;
      for (int i = 0; i < 4; ++i) q.v[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lines[(l + i) * Stride][half]));
      q = transposed(q);
      for (int i = 0; i < 4; ++i) {
        store_quarter(rows[half + i] + 4 * l, _mm256_castsi256_si128(q.v[i]));
        store_quarter(rows[half + i + 4] + 4 * l, _mm256_extracti128_si256(q.v[i], 1));
      }
    }
  }
}

}  // namespace
}  // namespace assay
