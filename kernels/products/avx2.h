/* Integer lanes for block dots: sixteen rows in two AVX2 registers, and AVX2's dot of bytes.

   What the bodies of this folder use, here and in lanes512.h with one register:

   Words, F32x16      sixteen 32-bit integers (or four bytes a lane), sixteen f32; a lane is a row
   load_words(p)      a line, any alignment; no_words(), repeat(p) the four bytes at p in every lane, repeat_int(i)
   bits_of(v, mask)   v & mask, the mask a repeated byte; join(a, b) a | b; join_bits(a, b, mask) a | (b & mask)
   shift_right<N>, shift_right_signed<N>, shift_left<N>   in 32-bit lanes
   plus, minus, mul(a, b)     32-bit lanes, modulo 2^32
   byte_pairs<J>(v)   byte J of each lane as both 16-bit halves of the lane
   unsigned_pairs<J>(v), signed_pairs<J>(v)     bytes 2J and 2J + 1 of each lane as its 16-bit halves
   pair_dot(sum, a, b)          sum + the products of a's 16-bit halves with b's: exact
   code_sum(q)        the sum of 32 signed bytes
   to_f32(v), widen(p)          from 32-bit integers, to nearest even; from halves, exact
   plus, times, fma, fnma(a, b, c)    a + b, a*b, a*b + c, -(a*b) + c, one rounding; broadcast; load, store

   Dots of bytes. A dot takes a line of codes without sign by the activations x, four of -127..127 in each lane:
   Dots               sums under way; kDotLines<MaxCode> lines may be added to one before it must be taken out
   dot(codes, x), dot(sums, codes, x)      the first, a further line
   Scale, unsigned_scale<J>(v), signed_scale<J>(v)    byte J of each lane as add_scaled takes it
   add_scaled(total, sums, scale), add_plain(total, sums)    take the sums out, with a scale or without
   kDotsStart         whether a dot's sums may start at any integer, repeat(p) for one, and not at 0 only
   kScalesInF32       whether add_scaled takes a total and a scale in f32 too
   signed_codes(w), signed_dot(total, codes, x)      total + a line w of signed bytes, -128 included, by x; each is taken
                      kSignedOffset (0 here) too large
   kHighNibbles       4 where a dot takes high nibbles as they stand, sixteen times too large; 0 where they must be shifted down */
#pragma once

#include "kernels/simd/avx2.h"

namespace assay {
namespace {

struct Words {
  __m256i lo;  // lanes 0..7
  __m256i hi;  // lanes 8..15
};
struct F32x16 {
  __m256 lo;
  __m256 hi;
};

// The empty assembly: a line is loaded once. GCC would make it an operand of each instruction that uses it.
ASSAY_INLINE Words load_words(const void* p) {
  const __m256i* halves = static_cast<const __m256i*>(p);
  Words line = {_mm256_loadu_si256(halves), _mm256_loadu_si256(halves + 1)};
  asm("" : "+x"(line.lo), "+x"(line.hi));
  return line;
}
ASSAY_INLINE Words repeat_int(int32_t x) {
  return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)};
}
ASSAY_INLINE Words repeat(const void* p) {
  int32_t word;
  memcpy(&word, p, sizeof word);
  return repeat_int(word);
}
ASSAY_INLINE Words no_words() {
  return repeat_int(0);
}
ASSAY_INLINE Words bits_of(Words a, int mask) {
  const __m256i m = _mm256_set1_epi8(static_cast<char>(mask));
  return {_mm256_and_si256(a.lo, m), _mm256_and_si256(a.hi, m)};
}
ASSAY_INLINE Words join(Words a, Words b) {
  return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)};
}
ASSAY_INLINE Words join_bits(Words a, Words b, int mask) {
  return join(a, bits_of(b, mask));
}
template <int N>
ASSAY_INLINE Words shift_right(Words a) {
  return {_mm256_srli_epi32(a.lo, N), _mm256_srli_epi32(a.hi, N)};
}
template <int N>
ASSAY_INLINE Words shift_right_signed(Words a) {
  return {_mm256_srai_epi32(a.lo, N), _mm256_srai_epi32(a.hi, N)};
}
template <int N>
ASSAY_INLINE Words shift_left(Words a) {
  return {_mm256_slli_epi32(a.lo, N), _mm256_slli_epi32(a.hi, N)};
}
ASSAY_INLINE Words add(Words a, Words b) {
  return {_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)};
}
ASSAY_INLINE Words sub(Words a, Words b) {
  return {_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)};
}
ASSAY_INLINE Words mul(Words a, Words b) {
  return {_mm256_mullo_epi32(a.lo, b.lo), _mm256_mullo_epi32(a.hi, b.hi)};
}

// Which byte of a 128-bit quarter goes where: those of lane 0, and 4 more for each further lane; 0x80 gives zero.
ASSAY_INLINE Words pick_bytes(Words a, uint32_t lane0) {
  const __m256i lanes = _mm256_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c, 0, 0x04040404, 0x08080808, 0x0c0c0c0c);
  const __m256i from = _mm256_add_epi8(lanes, _mm256_set1_epi32(static_cast<int>(lane0)));
  return {_mm256_shuffle_epi8(a.lo, from), _mm256_shuffle_epi8(a.hi, from)};
}
// Bytes at the top of 16-bit halves, with their sign to 16 bits.
ASSAY_INLINE Words high_bytes(Words a) {
  return {_mm256_srai_epi16(a.lo, 8), _mm256_srai_epi16(a.hi, 8)};
}
template <int J>
ASSAY_INLINE Words byte_pairs(Words a) {
  return pick_bytes(a, 0x80008000u + J * 0x00010001u);
}
template <int J>
ASSAY_INLINE Words unsigned_pairs(Words a) {
  return pick_bytes(a, 0x80018000u + J * 0x00020002u);
}
template <int J>
ASSAY_INLINE Words signed_pairs(Words a) {
  return high_bytes(pick_bytes(a, 0x01800080u + J * 0x02000200u));
}
ASSAY_INLINE Words pair_dot(Words sum, Words a, Words b) {
  return add(sum, {_mm256_madd_epi16(a.lo, b.lo), _mm256_madd_epi16(a.hi, b.hi)});
}

ASSAY_INLINE F32x16 to_f32(Words a) {
  return {_mm256_cvtepi32_ps(a.lo), _mm256_cvtepi32_ps(a.hi)};
}
ASSAY_INLINE F32x16 widen(const uint16_t* halves) {
  const __m128i* p = reinterpret_cast<const __m128i*>(halves);
  return {_mm256_cvtph_ps(_mm_loadu_si128(p)), _mm256_cvtph_ps(_mm_loadu_si128(p + 1))};
}
ASSAY_INLINE F32x16 broadcast(float x) {
  return {_mm256_set1_ps(x), _mm256_set1_ps(x)};
}
ASSAY_INLINE F32x16 add(F32x16 a, F32x16 b) {
  return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
}
ASSAY_INLINE F32x16 mul(F32x16 a, F32x16 b) {
  return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
}
ASSAY_INLINE F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
  return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}
ASSAY_INLINE F32x16 fnma(F32x16 a, F32x16 b, F32x16 c) {
  return {_mm256_fnmadd_ps(a.lo, b.lo, c.lo), _mm256_fnmadd_ps(a.hi, b.hi, c.hi)};
}
ASSAY_INLINE F32x16 load(const float* p) {
  return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}
ASSAY_INLINE void store(float* p, F32x16 a) {
  _mm256_storeu_ps(p, a.lo);
  _mm256_storeu_ps(p + 8, a.hi);
}

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

}  // namespace
}  // namespace assay

#include "kernels/products/code_sum.h"
