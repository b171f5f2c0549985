/* Products with AVX-512 BW. avx2.h says what each name does. */
#pragma once

#include "kernels/products/lanes_avx512.h"

namespace assay {
namespace {

ASSAY_INLINE Words pair_dot(Words sum, Words a, Words b) {
  return {_mm512_add_epi32(sum.v, _mm512_madd_epi16(a.v, b.v))};
}

// VPMADDUBSW adds two products in 16 bits, saturating; further lines are added in 16 bits too, so that a line of
// codes up to MaxCode may bring 2 * 127 * MaxCode.
struct Dots {
  __m512i v;
};
template <int MaxCode>
inline constexpr int kDotLines = 32767 / (2 * 127 * MaxCode);
inline constexpr bool kDotsStart = false;

ASSAY_INLINE Dots dot(Words codes, Words x) {
  return {_mm512_maddubs_epi16(codes.v, x.v)};
}
// The empty assembly: sums are added in this order. GCC would add them up as a tree, and spill.
ASSAY_INLINE Dots dot(Dots sums, Words codes, Words x) {
  Dots sum = {_mm512_add_epi16(sums.v, dot(codes, x).v)};
  asm("" : "+v"(sum.v));
  return sum;
}

using Scale = Words;  // in both 16-bit halves
template <int J>
ASSAY_INLINE Scale unsigned_scale(Words a) {
  return byte_pairs<J>(a);
}
template <int J>
ASSAY_INLINE Scale signed_scale(Words a) {
  return {_mm512_srai_epi16(pick_bytes(a, 0x00800080u + J * 0x01000100u).v, 8)};
}
// The empty assembly: a group's sums are taken out before the next group's are begun. GCC would keep them all, and spill.
ASSAY_INLINE Words add_scaled(Words total, Dots sums, Scale scale) {
  Words sum = add(total, {_mm512_madd_epi16(sums.v, scale.v)});
  asm("" : "+v"(sum.v));
  return sum;
}
ASSAY_INLINE Words add_plain(Words total, Dots sums) {
  return add(total, {_mm512_madd_epi16(sums.v, _mm512_set1_epi16(1))});
}

// |w| (up to 128, without sign) by x with w's sign: two products are at most 2 * 128 * 127 = 32512.
inline constexpr int kSignedOffset = 0;
inline constexpr int kHighNibbles = 0;
inline constexpr bool kScalesInF32 = false;
ASSAY_INLINE Words signed_codes(Words w) {
  return w;
}
ASSAY_INLINE Words signed_dot(Words total, Words w, Words x) {
  const __m512i signed_x = _mm512_mask_sub_epi8(x.v, _mm512_movepi8_mask(w.v), _mm512_setzero_si512(), x.v);
  return add_plain(total, {_mm512_maddubs_epi16(_mm512_abs_epi8(w.v), signed_x)});
}

constexpr int kGemmTiles = 1;
constexpr int kGemmRows = 6;

}  // namespace
}  // namespace assay

#include "kernels/products/vector.h"
