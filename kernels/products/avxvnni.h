/* Products with AVX-VNNI: four products of bytes into 32 bits, exact, in AVX2's two registers. avx2.h says what each name does. */
#pragma once

#define ASSAY_QUANTIZER_ISA avx2

#include "kernels/products/lanes_avx2.h"
#include "kernels/products/vnni256.h"
#include "kernels/simd/prefetch.h"

namespace assay {
namespace {

using Dots = Words;
template <int MaxCode>
inline constexpr int kDotLines = 1 << 16;  // 4 * 255 * 127 * 2^14 < 2^31
inline constexpr bool kDotsStart = true;

ASSAY_INLINE Dots dot(Dots sums, Words codes, Words x) {
  return {dpbusd(sums.lo, codes.lo, x.lo), dpbusd(sums.hi, codes.hi, x.hi)};
}
ASSAY_INLINE Dots dot(Words codes, Words x) {
  return dot(no_words(), codes, x);
}

using Scale = Words;
template <int J>
ASSAY_INLINE Scale unsigned_scale(Words a) {
  return pick_bytes(a, 0x80808000u + J);
}
template <int J>
ASSAY_INLINE Scale signed_scale(Words a) {
  return shift_right_signed<24>(pick_bytes(a, 0x00808080u + J * 0x01000000u));
}
// The empty assembly: a group's sums are taken out before the next group's are begun. GCC would keep them all, and spill.
ASSAY_INLINE Words add_scaled(Words total, Dots sums, Scale scale) {
  Words sum = add(total, mul(sums, scale));
  asm("" : "+x"(sum.lo), "+x"(sum.hi));
  return sum;
}
inline constexpr bool kScalesInF32 = true;
ASSAY_INLINE F32x16 add_scaled(F32x16 total, Dots sums, F32x16 scale) {
  F32x16 sum = fma(to_f32(sums), scale, total);
  asm("" : "+x"(sum.lo), "+x"(sum.hi));
  return sum;
}
ASSAY_INLINE Words add_plain(Words total, Dots sums) {
  return add(total, sums);
}

// w + 128, without sign: 128 times the activations' codes is too much.
inline constexpr int kSignedOffset = 128;
inline constexpr int kHighNibbles = 4;
ASSAY_INLINE Words signed_codes(Words w) {
  const __m256i top = _mm256_set1_epi8(-128);
  return {_mm256_xor_si256(w.lo, top), _mm256_xor_si256(w.hi, top)};
}
ASSAY_INLINE Words signed_dot(Words total, Words codes, Words x) {
  return dot(total, codes, x);
}

// As AVX2 has.
constexpr int kGemmTiles = 1;
constexpr int kGemmRows = 4;
constexpr int kRegisterRows = 6;
constexpr int kRegisterColumns = 1;
template <class Number>
inline constexpr Ahead kTunedAhead = {};

}  // namespace
}  // namespace assay

#include "kernels/products/vector.h"
