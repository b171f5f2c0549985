/* Integer lanes for block dots: eight rows in an AVX2 register (half of a packed block), and AVX2's dot of bytes.

   What the bodies of this folder use, here and in lanes512.h with sixteen lanes:

   kWidth             lanes (rows) of a register; a packed block is 16 / kWidth of them
   Words, Floats      a register of 32-bit integers (or of four bytes a lane), of f32
   load_words(p)      a line, any alignment; repeat(p) the four bytes at p in every lane; repeat_int(i); no_words()
   low_nibbles, high_nibbles    of each byte
   bits_of(v, mask)   v & mask, the mask a repeated byte; join(a, b) a | b
   shift_right<N>, shift_right_signed<N>, shift_left<N>   in 32-bit lanes
   plus, minus, times(a, b)     32-bit lanes, modulo 2^32
   byte_pairs<J>(v)   byte J of each lane as both 16-bit halves of the lane
   adjacent_pairs<J>(v)         signed bytes 2J and 2J + 1 of each lane as its 16-bit halves
   pair_dot(sum, a, b)          sum + the products of the 16-bit halves: exact
   code_sum(q)        the sum of 32 signed bytes
   to_f32(v), widen(p)          from 32-bit integers, to nearest even; from halves, exact
   times, fma, fnma(a, b, c)    a*b, a*b + c, -(a*b) + c, one rounding; repeat_f32; load_f32, store_f32

   Dots of bytes. A dot takes a line of codes without sign by the four activations at x, of -127..127:
   Dots               sums under way; kDotLines<MaxCode> lines may be added to one before it must be taken out
   dot(codes, x), dot(sums, codes, x)      the first, a further line
   kDotChains         how many sums one row of activations shares a group's lines among; merge(a, b) adds two up
   Scale, unsigned_scale<J>(v), signed_scale<J>(v)    byte J of each lane as add_scaled takes it
   add_scaled(total, sums, scale), add_plain(total, sums)    take the sums out, with a scale or without
   signed_dot(total, w, x)      total + a line of signed bytes, -128 included, by x; each is taken kSignedOffset (0 here) too large
   kHighNibbles       4 where a dot takes high nibbles as they stand, sixteen times too large; 0 where they must be shifted down */
#pragma once

#include "kernels/simd/avx2.h"

namespace assay {
namespace {

inline constexpr int kWidth = 8;

struct Words {
  __m256i v;
};
struct Floats {
  __m256 v;
};

ASSAY_INLINE Words load_words(const void* p) {
  return {_mm256_loadu_si256(static_cast<const __m256i*>(p))};
}
ASSAY_INLINE Words repeat_int(int32_t x) {
  return {_mm256_set1_epi32(x)};
}
ASSAY_INLINE Words repeat(const void* p) {
  int32_t word;
  memcpy(&word, p, sizeof word);
  return repeat_int(word);
}
ASSAY_INLINE Words no_words() {
  return {_mm256_setzero_si256()};
}
ASSAY_INLINE Words bits_of(Words a, int mask) {
  return {_mm256_and_si256(a.v, _mm256_set1_epi8(static_cast<char>(mask)))};
}
ASSAY_INLINE Words join(Words a, Words b) {
  return {_mm256_or_si256(a.v, b.v)};
}
template <int N>
ASSAY_INLINE Words shift_right(Words a) {
  return {_mm256_srli_epi32(a.v, N)};
}
template <int N>
ASSAY_INLINE Words shift_right_signed(Words a) {
  return {_mm256_srai_epi32(a.v, N)};
}
template <int N>
ASSAY_INLINE Words shift_left(Words a) {
  return {_mm256_slli_epi32(a.v, N)};
}
ASSAY_INLINE Words plus(Words a, Words b) {
  return {_mm256_add_epi32(a.v, b.v)};
}
ASSAY_INLINE Words minus(Words a, Words b) {
  return {_mm256_sub_epi32(a.v, b.v)};
}
ASSAY_INLINE Words times(Words a, Words b) {
  return {_mm256_mullo_epi32(a.v, b.v)};
}

// Which byte of a 128-bit half goes where: those of lane 0, and 4 more for each further lane; 0x80 gives zero.
ASSAY_INLINE Words pick_bytes(Words a, uint32_t lane0) {
  const __m256i lanes = _mm256_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c, 0, 0x04040404, 0x08080808, 0x0c0c0c0c);
  return {_mm256_shuffle_epi8(a.v, _mm256_add_epi8(lanes, _mm256_set1_epi32(static_cast<int>(lane0))))};
}
template <int J>
ASSAY_INLINE Words byte_pairs(Words a) {
  return pick_bytes(a, 0x80008000u + J * 0x00010001u);
}
template <int J>
ASSAY_INLINE Words adjacent_pairs(Words a) {
  return {_mm256_srai_epi16(pick_bytes(a, 0x01800080u + J * 0x02000200u).v, 8)};
}
ASSAY_INLINE Words pair_dot(Words sum, Words a, Words b) {
  return {_mm256_add_epi32(sum.v, _mm256_madd_epi16(a.v, b.v))};
}

ASSAY_INLINE Floats to_f32(Words a) {
  return {_mm256_cvtepi32_ps(a.v)};
}
ASSAY_INLINE Floats widen(const uint16_t* halves) {
  return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves)))};
}
ASSAY_INLINE Floats repeat_f32(float x) {
  return {_mm256_set1_ps(x)};
}
ASSAY_INLINE Floats times(Floats a, Floats b) {
  return {_mm256_mul_ps(a.v, b.v)};
}
ASSAY_INLINE Floats fma(Floats a, Floats b, Floats c) {
  return {_mm256_fmadd_ps(a.v, b.v, c.v)};
}
ASSAY_INLINE Floats fnma(Floats a, Floats b, Floats c) {
  return {_mm256_fnmadd_ps(a.v, b.v, c.v)};
}
ASSAY_INLINE Floats load_f32(const float* p) {
  return {_mm256_loadu_ps(p)};
}
ASSAY_INLINE void store_f32(float* p, Floats a) {
  _mm256_storeu_ps(p, a.v);
}

// VPMADDUBSW adds two products in 16 bits, saturating; further lines are added in 16 bits too, so that a line of
// codes up to MaxCode may bring 2 * 127 * MaxCode.
struct Dots {
  __m256i v;
};
template <int MaxCode>
inline constexpr int kDotLines = 32767 / (2 * 127 * MaxCode);

ASSAY_INLINE Dots dot(Words codes, const int8_t* x) {
  return {_mm256_maddubs_epi16(codes.v, repeat(x).v)};
}
ASSAY_INLINE Dots dot(Dots sums, Words codes, const int8_t* x) {
  return {_mm256_add_epi16(sums.v, dot(codes, x).v)};
}

inline constexpr int kDotChains = 1;
ASSAY_INLINE Dots merge(Dots a, Dots b) {
  return {_mm256_add_epi16(a.v, b.v)};
}

using Scale = Words;  // in both 16-bit halves
template <int J>
ASSAY_INLINE Scale unsigned_scale(Words a) {
  return byte_pairs<J>(a);
}
template <int J>
ASSAY_INLINE Scale signed_scale(Words a) {
  return {_mm256_srai_epi16(pick_bytes(a, 0x00800080u + J * 0x01000100u).v, 8)};
}
ASSAY_INLINE Words add_scaled(Words total, Dots sums, Scale scale) {
  return pair_dot(total, {sums.v}, scale);
}
ASSAY_INLINE Words add_plain(Words total, Dots sums) {
  return pair_dot(total, {sums.v}, {_mm256_set1_epi16(1)});
}

// |w| (up to 128, without sign) by x with w's sign: two products are at most 2 * 128 * 127 = 32512.
inline constexpr int kSignedOffset = 0;
inline constexpr int kHighNibbles = 0;
ASSAY_INLINE Words signed_dot(Words total, Words w, const int8_t* x) {
  return add_plain(total, {_mm256_maddubs_epi16(_mm256_abs_epi8(w.v), _mm256_sign_epi8(repeat(x).v, w.v))});
}

}  // namespace
}  // namespace assay

#include "kernels/block_dot/code_sum.h"
