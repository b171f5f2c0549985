/* Integer lanes for block dots: sixteen rows in an AVX-512 register. lanes_avx2.h says what each name does; avx512.h and avx512vnni.h
   add the dots of bytes. */
#pragma once

#include <string.h>

#include "kernels/formats/bytes_avx512.h"

#include "kernels/packings/lines_avx512.h"
#include "kernels/simd/prefetch.h"

namespace assay {
namespace {

struct Words {
  __m512i v;
};

// The empty assembly: a line is loaded once. GCC would make it an operand of each instruction that uses it.
ASSAY_INLINE Words load_words(const void* p) {
  Words line = {_mm512_loadu_si512(p)};
  asm("" : "+v"(line.v));
  return line;
}
ASSAY_INLINE Words repeat_int(int32_t x) {
  return {_mm512_set1_epi32(x)};
}
ASSAY_INLINE Words repeat(const void* p) {
  int32_t word;
  memcpy(&word, p, sizeof word);
  return repeat_int(word);
}
ASSAY_INLINE Words no_words() {
  return {_mm512_setzero_si512()};
}
ASSAY_INLINE Words bits_of(Words a, int mask) {
  return {_mm512_and_si512(a.v, _mm512_set1_epi8(static_cast<char>(mask)))};
}
ASSAY_INLINE Words join(Words a, Words b) {
  return {_mm512_or_si512(a.v, b.v)};
}
ASSAY_INLINE Words join_bits(Words a, Words b, int mask) {
  return {_mm512_ternarylogic_epi32(a.v, b.v, _mm512_set1_epi8(static_cast<char>(mask)), 0xf8)};
}
template <int N>
ASSAY_INLINE Words shift_right(Words a) {
  return {_mm512_srli_epi32(a.v, N)};
}
template <int N>
ASSAY_INLINE Words shift_right_signed(Words a) {
  return {_mm512_srai_epi32(a.v, N)};
}
template <int N>
ASSAY_INLINE Words shift_left(Words a) {
  return {_mm512_slli_epi32(a.v, N)};
}
ASSAY_INLINE Words add(Words a, Words b) {
  return {_mm512_add_epi32(a.v, b.v)};
}
ASSAY_INLINE Words sub(Words a, Words b) {
  return {_mm512_sub_epi32(a.v, b.v)};
}
ASSAY_INLINE Words mul(Words a, Words b) {
  return {_mm512_mullo_epi32(a.v, b.v)};
}
ASSAY_INLINE Words mul_pairs(Words a, Words b) {
  return {_mm512_mullo_epi16(a.v, b.v)};
}
ASSAY_INLINE Words sub_bytes(Words a, int k) {
  return {_mm512_sub_epi8(a.v, _mm512_set1_epi8(static_cast<char>(k)))};
}

ASSAY_INLINE Words pick_bytes(Words a, uint32_t lane0) {
  const __m512i lanes = _mm512_set4_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0);
  return {_mm512_shuffle_epi8(a.v, _mm512_add_epi8(lanes, _mm512_set1_epi32(static_cast<int>(lane0))))};
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
  return {_mm512_srai_epi16(pick_bytes(a, 0x01800080u + J * 0x02000200u).v, 8)};
}

ASSAY_INLINE F32x16 to_f32(Words a) {
  return {_mm512_cvtepi32_ps(a.v)};
}
ASSAY_INLINE F32x16 fnma(F32x16 a, F32x16 b, F32x16 c) {
  return {_mm512_fnmadd_ps(a.v, b.v, c.v)};
}

// 24 registers of sums, two of weights, one of activations: 27 of 32.
constexpr int kRegisterRows = 12;
constexpr int kRegisterColumns = 2;
template <class Number>
inline constexpr Ahead kTunedAhead = {};

}  // namespace
}  // namespace assay

#include "kernels/products/code_sum.h"
