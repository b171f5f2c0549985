/* Integer lanes for block dots: sixteen rows in two AVX2 registers. What the bodies of this folder use, here and in lanes_avx512.h
   with one register, beside the sixteen floats of kernels/simd:

   Words              sixteen 32-bit integers, or four bytes a lane; a lane is a row
   load_words(p)      a line, any alignment; no_words(), repeat(p) the four bytes at p in every lane, repeat_int(i)
   bits_of(v, mask)   v & mask, the mask a repeated byte; join(a, b) a | b; join_bits(a, b, mask) a | (b & mask)
   shift_right<N>, shift_right_signed<N>, shift_left<N>   in 32-bit lanes
   add, sub, mul(a, b)          32-bit lanes, modulo 2^32
   mul_pairs(a, b)    16-bit halves of lanes, modulo 2^16; sub_bytes(v, k) each byte less k, modulo 2^8
   pick_bytes(v, from)          in each lane byte i is byte number `from`'s i-th of the lane, or zero where that is 0x80
   byte_pairs<J>(v)   byte J of each lane as both 16-bit halves of the lane
   unsigned_pairs<J>(v), signed_pairs<J>(v)     bytes 2J and 2J + 1 of each lane as its 16-bit halves
   pair_dot(sum, a, b)          sum + the products of a's 16-bit halves with b's: exact
   code_sum(q)        the sum of 32 signed bytes
   to_f32(v)          from 32-bit integers, to nearest even
   fnma(a, b, c)      -(a*b) + c, one rounding */
#pragma once

#include "kernels/formats/bytes_avx2.h"
#include "kernels/packings/lines_avx2.h"

namespace assay {
namespace {

struct Words {
  __m256i lo;  // lanes 0..7
  __m256i hi;  // lanes 8..15
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
ASSAY_INLINE Words mul_pairs(Words a, Words b) {
  return {_mm256_mullo_epi16(a.lo, b.lo), _mm256_mullo_epi16(a.hi, b.hi)};
}
ASSAY_INLINE Words sub_bytes(Words a, int k) {
  const __m256i all = _mm256_set1_epi8(static_cast<char>(k));
  return {_mm256_sub_epi8(a.lo, all), _mm256_sub_epi8(a.hi, all)};
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
// -(a*b) + c
ASSAY_INLINE F32x16 fnma(F32x16 a, F32x16 b, F32x16 c) {
  return {_mm256_fnmadd_ps(a.lo, b.lo, c.lo), _mm256_fnmadd_ps(a.hi, b.hi, c.hi)};
}

}  // namespace
}  // namespace assay

#include "kernels/products/code_sum.h"
