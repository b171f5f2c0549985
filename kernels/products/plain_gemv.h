/* gemv over plain block rows, one row after the other: 256 bits hold 32 elements of a row. After an ISA's lanes and dots.

   A row's blocks are one ascending stream, which the hardware prefetches. Two rows at a time, or sixteen gathered into a tile as
   gemm does it, are as many streams, which it loses: on Zen 4 a quarter of the speed is left. Sums across lanes cost less. */
#pragma once

#include <string.h>

#include "kernels/formats/half.h"
#include "kernels/products/typed.h"
#include "kernels/products/unroll.h"
#include "kernels/products/vnni256.h"

namespace assay {
namespace {

ASSAY_INLINE __m256i load_32(const void* p) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
ASSAY_INLINE __m128i load_16(const void* p) {
  return _mm_loadu_si128(static_cast<const __m128i*>(p));
}
ASSAY_INLINE __m256i bits_32(__m256i v, int mask) {
  return _mm256_and_si256(v, _mm256_set1_epi8(static_cast<char>(mask)));
}
ASSAY_INLINE __m256i low_nibbles_32(__m256i v) {
  return bits_32(v, 15);
}
ASSAY_INLINE __m256i high_nibbles_32(__m256i v) {
  return bits_32(_mm256_srli_epi16(v, 4), 15);
}
ASSAY_INLINE __m256i both_halves(__m128i v) {
  return _mm256_broadcastsi128_si256(v);
}

// sum + scale * codes * x, four products a lane; codes without sign, at most 63: two products fit 16 bits.
ASSAY_INLINE __m256i add_products(__m256i sum, __m256i codes, const int8_t* x, __m256i scale) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(codes, load_32(x)), scale));
}

// Loaded once: the empty assembly keeps GCC from making it an operand of each instruction that uses it.
ASSAY_INLINE __m256i load_codes(const uint8_t* p) {
  __m256i bytes = load_32(p);
  asm("" : "+x"(bytes));
  return bytes;
}

// Eight words in each half, for pick_word<J>: word J of a half in all of its words.
struct EightWords {
  __m256i low;   // words 0..3, each twice
  __m256i high;  // words 4..7
};
ASSAY_INLINE EightWords eight_words(__m256i v) {
  return {_mm256_unpacklo_epi16(v, v), _mm256_unpackhi_epi16(v, v)};
}
template <int J>
ASSAY_INLINE __m256i pick_word(EightWords v) {
  return _mm256_shuffle_epi32(J < 4 ? v.low : v.high, J % 4 * 0x55);
}

// Partial sums of a block's integers: I1 and I2 are the sums of the lanes.
struct Integers {
  __m256i i1;
  __m256i i2;
};

// sc 0..7 and m 0..7 of q4_k and q5_k (kernels/formats/blocks.h), widened to words.
struct ScalesMinima {
  __m128i sc;
  __m128i m;
};
ASSAY_INLINE ScalesMinima scales_minima(const uint8_t* scales) {
  uint32_t b[3];
  memcpy(b, scales, sizeof b);
  const int sc_high = static_cast<int>((b[2] & 0x0f0f0f0fu) | ((b[0] >> 2) & 0x30303030u));
  const int m_high = static_cast<int>(((b[2] >> 4) & 0x0f0f0f0fu) | ((b[1] >> 2) & 0x30303030u));
  const int sc_low = static_cast<int>(b[0] & 0x3f3f3f3fu);
  const int m_low = static_cast<int>(b[1] & 0x3f3f3f3fu);
  return {_mm_cvtepu8_epi16(_mm_set_epi32(0, 0, sc_high, sc_low)), _mm_cvtepu8_epi16(_mm_set_epi32(0, 0, m_high, m_low))};
}

// codes(j, nibbles) is sub-block j.
template <class Block, class Codes>
ASSAY_INLINE Integers with_minima(const Block& w, const BlockQ8_K& x, Codes codes) {
  const ScalesMinima s = scales_minima(w.scales);
  const EightWords sc = eight_words(both_halves(s.sc));
  const __m256i m = _mm256_set_m128i(_mm_unpackhi_epi16(s.m, s.m), _mm_unpacklo_epi16(s.m, s.m));
  Integers sums = {_mm256_setzero_si256(), _mm256_madd_epi16(m, load_32(x.bsums))};
  for_each_index<4>([&](auto chunk) ASSAY_LAMBDA_INLINE {
    constexpr int J = 2 * decltype(chunk)::value;
    const __m256i bytes = load_codes(w.qs + 16 * J);
    sums.i1 = add_products(sums.i1, codes(J, low_nibbles_32(bytes)), x.qs + 32 * J, pick_word<J>(sc));
    sums.i1 = add_products(sums.i1, codes(J + 1, high_nibbles_32(bytes)), x.qs + 32 * J + 32, pick_word<J + 1>(sc));
  });
  return sums;
}
ASSAY_INLINE Integers integers_of(const BlockQ4_K& w, const BlockQ8_K& x) {
  return with_minima(w, x, [](int, __m256i nibbles) ASSAY_LAMBDA_INLINE { return nibbles; });
}
ASSAY_INLINE Integers integers_of(const BlockQ5_K& w, const BlockQ8_K& x) {
  const __m256i fifth = load_32(w.qh);
  return with_minima(w, x, [&](int j, __m256i nibbles) ASSAY_LAMBDA_INLINE {
    const __m256i at_4 = j < 4 ? _mm256_slli_epi16(fifth, 4 - j) : _mm256_srli_epi16(fifth, j - 4);
    return _mm256_or_si256(nibbles, bits_32(at_4, 0x10));
  });
}
// Codes are 32 too large: 32 sum of sc_j bsums_j is taken off. Sixteen elements share a scale, so that the halves of 32 have two.
ASSAY_INLINE Integers integers_of(const BlockQ6_K& w, const BlockQ8_K& x) {
  const __m128i in_order = load_16(w.scales);
  const __m128i even_odd = _mm_shuffle_epi8(in_order, _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15));
  const EightWords scales = eight_words(_mm256_cvtepi8_epi16(even_odd));
  const __m256i excess = _mm256_madd_epi16(_mm256_cvtepi8_epi16(in_order), load_32(x.bsums));
  Integers sums = {_mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32(excess, 5)), _mm256_setzero_si256()};
  for_each_index<8>([&](auto quarter) ASSAY_LAMBDA_INLINE {
    constexpr int Q = decltype(quarter)::value;
    constexpr int h = Q / 4, q = Q % 4;
    const __m256i bytes = load_codes(w.ql + 64 * h + q % 2 * 32);
    const __m256i high = load_codes(w.qh + 32 * h);
    const __m256i top = q < 2 ? _mm256_slli_epi16(high, 4 - 2 * (q % 2)) : _mm256_srli_epi16(high, 2 * (q % 2));
    const __m256i codes = _mm256_or_si256(q < 2 ? low_nibbles_32(bytes) : high_nibbles_32(bytes), bits_32(top, 0x30));
    sums.i1 = add_products(sums.i1, codes, x.qs + 32 * Q, pick_word<Q>(scales));
  });
  return sums;
}

// Lane 0: I1, lane 1: I2.
ASSAY_INLINE __m128i totals_of(Integers s) {
  const __m256i pairs = _mm256_hadd_epi32(s.i1, s.i2);
  const __m128i quads = _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
  return _mm_hadd_epi32(quads, quads);
}

// The canonical step: acc = fma(d_w d_x, I1, acc), and with a minimum acc = fma(-(dmin_w d_x), I2, acc).
template <class Block>
ASSAY_INLINE __m128 add_row_block(const Block& w, const BlockQ8_K& x, __m128 acc) {
  const __m128 dx = _mm_set_ss(x.d);
  const __m128 i = _mm_cvtepi32_ps(totals_of(integers_of(w, x)));
  acc = _mm_fmadd_ss(_mm_mul_ss(_mm_set_ss(half_value(w.d)), dx), i, acc);
  if constexpr (requires { w.dmin; }) {
    acc = _mm_fnmadd_ss(_mm_mul_ss(_mm_set_ss(half_value(w.dmin)), dx), _mm_movehdup_ps(i), acc);
  }
  return acc;
}

// Codes of a block of 32, with their sign.
ASSAY_INLINE __m256i signed_codes(const BlockQ8_0& w) {
  return load_32(w.qs);
}
ASSAY_INLINE __m256i nibbles_of_16(const uint8_t* qs) {
  const __m128i bytes = load_16(qs);
  return low_nibbles_32(_mm256_set_m128i(_mm_srli_epi16(bytes, 4), bytes));
}
ASSAY_INLINE __m256i signed_codes(const BlockQ4_0& w) {
  return _mm256_sub_epi8(nibbles_of_16(w.qs), _mm256_set1_epi8(8));
}
// Byte i / 8 of qh comes to element i; bit i % 8 decides.
ASSAY_INLINE __m256i signed_codes(const BlockQ5_0& w) {
  int32_t bits;
  memcpy(&bits, w.qh, sizeof bits);
  const __m256i own_byte = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i own_bit = _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201u));
  const __m256i spread = _mm256_and_si256(_mm256_shuffle_epi8(_mm256_set1_epi32(bits), own_byte), own_bit);
  const __m256i clear = _mm256_cmpeq_epi8(spread, _mm256_setzero_si256());
  return _mm256_sub_epi8(nibbles_of_16(w.qs), bits_32(clear, 16));  // nibble + 16 bit - 16
}

// |w| (up to 128, without sign) by x with w's sign: two products are at most 2 * 128 * 127 = 32512, and fit 16 bits.
template <class Block>
ASSAY_INLINE __m256i integers_of_32(const Block& w, const BlockQ8_0& x) {
  const __m256i codes = signed_codes(w);
  const __m256i magnitudes = _mm256_abs_epi8(codes);
  const __m256i signed_x = _mm256_sign_epi8(load_32(x.qs), codes);
#ifdef ASSAY_VNNI256
  return dpbusd(_mm256_setzero_si256(), magnitudes, signed_x);
#else
  return _mm256_madd_epi16(_mm256_maddubs_epi16(magnitudes, signed_x), _mm256_set1_epi16(1));
#endif
}

// Four blocks: lane l of the integers, and of the scales' products, is block l.
template <class Block>
ASSAY_INLINE __m128 totals_of_four(const Block* w, const BlockQ8_0* x) {
  const __m256i s01 = _mm256_hadd_epi32(integers_of_32(w[0], x[0]), integers_of_32(w[1], x[1]));
  const __m256i s23 = _mm256_hadd_epi32(integers_of_32(w[2], x[2]), integers_of_32(w[3], x[3]));
  const __m256i sums = _mm256_hadd_epi32(s01, s23);
  return _mm_cvtepi32_ps(_mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1)));
}
template <class Block>
ASSAY_INLINE __m128 scales_of_four(const Block* b) {
  const __m128i two = _mm_insert_epi16(_mm_cvtsi32_si128(b[0].d), b[1].d, 1);
  return _mm_cvtph_ps(_mm_insert_epi16(_mm_insert_epi16(two, b[2].d, 2), b[3].d, 3));
}

template <class Block>
ASSAY_INLINE __m128 add_row_block(const Block& w, const BlockQ8_0& x, __m128 acc) {
  const __m128i i1 = totals_of({integers_of_32(w, x), _mm256_setzero_si256()});
  return _mm_fmadd_ss(_mm_set_ss(half_value(w.d) * half_value(x.d)), _mm_cvtepi32_ps(i1), acc);
}

template <class Block>
ASSAY_INLINE float row_dot(const Block* w, const BlockQ8_0* x, int64_t blocks) {
  __m128 acc = _mm_setzero_ps();
  int64_t b = 0;
  for (; b + 4 <= blocks; b += 4) {
    const __m128 i1 = totals_of_four(w + b, x + b);
    const __m128 d = _mm_mul_ps(scales_of_four(w + b), scales_of_four(x + b));
    acc = _mm_fmadd_ss(d, i1, acc);
    acc = _mm_fmadd_ss(_mm_movehdup_ps(d), _mm_movehdup_ps(i1), acc);
    acc = _mm_fmadd_ss(_mm_movehl_ps(d, d), _mm_movehl_ps(i1, i1), acc);
    acc = _mm_fmadd_ss(_mm_permute_ps(d, 3), _mm_permute_ps(i1, 3), acc);
  }
  for (; b < blocks; ++b) acc = add_row_block(w[b], x[b], acc);
  return _mm_cvtss_f32(acc);
}
template <class Block>
ASSAY_INLINE float row_dot(const Block* w, const BlockQ8_K* x, int64_t blocks) {
  __m128 acc = _mm_setzero_ps();
  for (int64_t b = 0; b < blocks; ++b) acc = add_row_block(w[b], x[b], acc);
  return _mm_cvtss_f32(acc);
}

// q4_1 has codes without sign and an offset: acc = fma(d_w d_x, I1, acc), then acc = fma(m_w d_x, I2, acc).
ASSAY_INLINE __m128 add_row_block(const BlockQ4_1& w, const BlockQ8_0& x, __m128 acc) {
  const __m256i codes = load_32(x.qs);
  const __m256i one = _mm256_set1_epi16(1);
  const __m256i i1 = _mm256_madd_epi16(_mm256_maddubs_epi16(nibbles_of_16(w.qs), codes), one);
  const __m256i i2 = _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_set1_epi8(1), codes), one);
  const __m128 i = _mm_cvtepi32_ps(totals_of({i1, i2}));
  const float dx = half_value(x.d);
  acc = _mm_fmadd_ss(_mm_set_ss(half_value(w.d) * dx), i, acc);
  return _mm_fmadd_ss(_mm_set_ss(half_value(w.m) * dx), _mm_movehdup_ps(i), acc);
}
ASSAY_INLINE float row_dot(const BlockQ4_1* w, const BlockQ8_0* x, int64_t blocks) {
  __m128 acc = _mm_setzero_ps();
  for (int64_t b = 0; b < blocks; ++b) acc = add_row_block(w[b], x[b], acc);
  return _mm_cvtss_f32(acc);
}

template <class Block, class X>
inline AssayStatus gemv(const Typed<Block, X>& args) {
  if (args.k % kElementsOf<Block> != 0) return ASSAY_BAD_SHAPE;
  const int64_t blocks = args.k / kElementsOf<Block>;
  for (int64_t i = 0; i < args.n; ++i) args.y[i] = row_dot(args.w + i * blocks, args.x, blocks);
  return ASSAY_OK;
}

// Of q4_1, whose blocks no tile takes: a row of weights stays in the first-level cache for all rows of activations.
inline AssayStatus gemm(const Typed<BlockQ4_1, BlockQ8_0>& args) {
  constexpr int kElements = kElementsOf<BlockQ4_1>;
  if (args.k % kElements != 0) return ASSAY_BAD_SHAPE;
  const int64_t blocks = args.k / kElements;
  for (int64_t i = 0; i < args.n; ++i) {
    for (int64_t j = 0; j < args.m; ++j) {
      args.y[j * args.y_stride + i] = row_dot(args.w + i * blocks, args.x + j * args.x_stride, blocks);
    }
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
