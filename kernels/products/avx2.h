/* Products with AVX2. What an ISA's header gives: its lanes (lanes_avx2.h), its dots of bytes, the sizes of its tiles, and by way of
   vector.h the products themselves.

   Dots of bytes. A dot takes a line of codes without sign by the activations x, four of -127..127 in each lane:
   Dots               sums under way; kDotLines<MaxCode> lines may be added to one before it must be taken out
   dot(codes, x), dot(sums, codes, x)      the first, a further line
   Scale, unsigned_scale<J>(v), signed_scale<J>(v)    byte J of each lane as add_scaled takes it
   add_scaled(total, sums, scale), add_plain(total, sums)    take the sums out, with a scale or without
   kDotsStart         whether a dot's sums may start at any integer, repeat(p) for one, and not at 0 only
   kScalesInF32       whether add_scaled takes a total and a scale in f32 too
   signed_codes(w), signed_dot(total, codes, x)      total + a line w of signed bytes, -128 included, by x; each is taken
                      kSignedOffset (0 here) too large
   kHighNibbles       4 where a dot takes high nibbles as they stand, sixteen times too large; 0 where they must be shifted down

   kGemmTiles, kGemmRows              gemm over blocks: tiles of sixteen rows of weights and rows of activations in registers
   kRegisterRows, kRegisterColumns    gemm over f32 activations: rows of them and vectors of weights' rows in registers
   kTunedAhead<Number>                gemv over tile-major weights: prefetch where the hardware follows streams */
#pragma once

#include "kernels/products/lanes_avx2.h"
#include "kernels/simd/prefetch.h"

namespace assay {
namespace {

// VPMADDUBSW adds two products in 16 bits, saturating; further lines are added in 16 bits too. A line of codes up to MaxCode
// brings at most 2 * 127 * MaxCode.
struct Dots {
  __m256i lo;
  __m256i hi;
};
template <int MaxCode>
inline constexpr int kDotLines = 32767 / (2 * 127 * MaxCode);
inline constexpr bool kDotsStart = false;

ASSAY_INLINE Dots dot(Words codes, Words x) {
  return {_mm256_maddubs_epi16(codes.lo, x.lo), _mm256_maddubs_epi16(codes.hi, x.hi)};
}
// The empty assembly: sums are added in this order. GCC would add them up as a tree, and spill.
ASSAY_INLINE Dots dot(Dots sums, Words codes, Words x) {
  const Dots line = dot(codes, x);
  Dots sum = {_mm256_add_epi16(sums.lo, line.lo), _mm256_add_epi16(sums.hi, line.hi)};
  asm("" : "+x"(sum.lo), "+x"(sum.hi));
  return sum;
}

using Scale = Words;  // in both 16-bit halves
template <int J>
ASSAY_INLINE Scale unsigned_scale(Words a) {
  return byte_pairs<J>(a);
}
template <int J>
ASSAY_INLINE Scale signed_scale(Words a) {
  return high_bytes(pick_bytes(a, 0x00800080u + J * 0x01000100u));
}
// The empty assembly: a group's sums are taken out before the next group's are begun. GCC would keep them all, and spill.
ASSAY_INLINE Words add_scaled(Words total, Dots sums, Scale scale) {
  Words sum = add(total, {_mm256_madd_epi16(sums.lo, scale.lo), _mm256_madd_epi16(sums.hi, scale.hi)});
  asm("" : "+x"(sum.lo), "+x"(sum.hi));
  return sum;
}
ASSAY_INLINE Words add_plain(Words total, Dots sums) {
  const __m256i one = _mm256_set1_epi16(1);
  return add(total, {_mm256_madd_epi16(sums.lo, one), _mm256_madd_epi16(sums.hi, one)});
}

// |w| (up to 128, without sign) by x with w's sign: two products are at most 2 * 128 * 127 = 32512.
inline constexpr int kSignedOffset = 0;
inline constexpr int kHighNibbles = 0;
inline constexpr bool kScalesInF32 = false;
ASSAY_INLINE Words signed_codes(Words w) {
  return w;
}
ASSAY_INLINE Words signed_dot(Words total, Words w, Words x) {
  return add_plain(total, {_mm256_maddubs_epi16(_mm256_abs_epi8(w.lo), _mm256_sign_epi8(x.lo, w.lo)),
                           _mm256_maddubs_epi16(_mm256_abs_epi8(w.hi), _mm256_sign_epi8(x.hi, w.hi))});
}

constexpr int kGemmTiles = 1;
constexpr int kGemmRows = 4;

// Twelve registers of sums, two of weights, one of activations: 15 of 16.
constexpr int kRegisterRows = 6;
constexpr int kRegisterColumns = 1;

template <class Number>
inline constexpr Ahead kTunedAhead = {};
// Of halves. Tuned on Zen 4: 1 to 3 per cent of the read roof better than nothing or 4 KiB.
template <>
inline constexpr Ahead kTunedAhead<uint16_t> = {8192, 0};

}  // namespace
}  // namespace assay

#include "kernels/products/vector.h"
