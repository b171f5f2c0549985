/* Products with AVX-512 VNNI: four products of bytes into 32 bits, exact. avx2.h says what each name does. */
#pragma once

#define ASSAY_QUANTIZER_ISA avx512

#include "kernels/products/lanes_avx512.h"

namespace assay {
namespace {

ASSAY_INLINE Words pair_dot(Words sum, Words a, Words b) {
  return {_mm512_dpwssd_epi32(sum.v, a.v, b.v)};
}

using Dots = Words;
template <int MaxCode>
inline constexpr int kDotLines = 1 << 16;  // 4 * 255 * 127 * 2^14 < 2^31
inline constexpr bool kDotsStart = true;

ASSAY_INLINE Dots dot(Dots sums, Words codes, Words x) {
  return {_mm512_dpbusd_epi32(sums.v, codes.v, x.v)};
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
  return {_mm512_srai_epi32(pick_bytes(a, 0x00808080u + J * 0x01000000u).v, 24)};
}
// The empty assembly: a group's sums are taken out before the next group's are begun. GCC would keep them all, and spill.
ASSAY_INLINE Words add_scaled(Words total, Dots sums, Scale scale) {
  Words sum = add(total, mul(sums, scale));
  asm("" : "+v"(sum.v));
  return sum;
}
inline constexpr bool kScalesInF32 = true;
ASSAY_INLINE F32x16 add_scaled(F32x16 total, Dots sums, F32x16 scale) {
  F32x16 sum = fma(to_f32(sums), scale, total);
  asm("" : "+v"(sum.v));
  return sum;
}
ASSAY_INLINE Words add_plain(Words total, Dots sums) {
  return add(total, sums);
}

// w + 128, without sign: 128 times the activations' codes is too much.
inline constexpr int kSignedOffset = 128;
inline constexpr int kHighNibbles = 4;
ASSAY_INLINE Words signed_codes(Words w) {
  return {_mm512_xor_si512(w.v, _mm512_set1_epi8(-128))};
}
ASSAY_INLINE Words signed_dot(Words total, Words codes, Words x) {
  return dot(total, codes, x);
}

constexpr int kGemmTiles = 2;
constexpr int kGemmRows = 4;

}  // namespace
}  // namespace assay

#include "kernels/products/vector.h"
