/* What a block-quantised dot does with a block, one tile or more against one row of activations or more: parts that gemv and gemm
   share. After an ISA's lanes and dots. */
#pragma once

#include "kernels/products/dot_formats.h"

namespace assay {
namespace {

// f(t, r) for every tile and row.
template <int T, int R, class F>
ASSAY_INLINE void for_each_sum(F f) {
  ASSAY_UNROLL
  for (int r = 0; r < R; ++r) {
    ASSAY_UNROLL
    for (int t = 0; t < T; ++t) f(t, r);
  }
}

// The dot of a group's first line.
template <class Format>
ASSAY_INLINE Dots first_dot(const typename Format::Side& side, int group, Words codes, Words four) {
  if constexpr (Format::kStarts) return dot(repeat(&side.starts[group]), codes, four);
  return dot(codes, four);
}

// acc = fma(d_w d_x, I1, acc).
template <class Weights, class Side>
ASSAY_INLINE F32x16 add_first(const Weights& w, const Side& side, F32x16 i1, F32x16 acc) {
  return fma(mul(w.d(), broadcast(side.d)), i1, acc);
}
// acc = fma(-(dmin_w d_x), I2, acc).
template <class Weights, class Side>
ASSAY_INLINE F32x16 add_second(const Weights& w, const Side& side, Words i2, F32x16 acc) {
  return fnma(mul(w.dmin(), broadcast(side.d)), to_f32(i2), acc);
}

// A block of 32 of T tiles against R rows.
template <class Format, int T, int R, class Weights>
ASSAY_INLINE void add_block_of_32(const Weights* const (&weights)[T], const int8_t* const (&x)[R],
                                  const typename Format::Side* const (&sides)[R], F32x16 (&acc)[T][R]) {
  constexpr int kAtOnce = static_cast<int>(at_most(kDotLines<Format::kMaxCode>, 8));
  Words i1[T][R];
  Dots sums[T][R];
  for_each_sum<T, R>([&](int t, int r)
                         ASSAY_LAMBDA_INLINE { i1[t][r] = Format::kOffset == 0 ? no_words() : repeat_int(sides[r]->offset); });
  for_each_index<8>([&](auto line) ASSAY_LAMBDA_INLINE {
    constexpr int L = decltype(line)::value;
    Words codes[T];
    ASSAY_UNROLL
    for (int t = 0; t < T; ++t) codes[t] = weights[t]->template codes<L>();
    ASSAY_UNROLL
    for (int r = 0; r < R; ++r) {
      const Words four = repeat(x[r] + 4 * L);
      ASSAY_UNROLL
      for (int t = 0; t < T; ++t) {
        if constexpr (Format::kSigned) {
          i1[t][r] = signed_dot(i1[t][r], codes[t], four);
        } else {
          sums[t][r] = L % kAtOnce == 0 ? dot(codes[t], four) : dot(sums[t][r], codes[t], four);
          if constexpr ((L + 1) % kAtOnce == 0) i1[t][r] = add_plain(i1[t][r], sums[t][r]);
        }
      }
    }
  });
  for_each_sum<T, R>([&](int t, int r)
                         ASSAY_LAMBDA_INLINE { acc[t][r] = add_first(*weights[t], *sides[r], to_f32(i1[t][r]), acc[t][r]); });
}

}  // namespace
}  // namespace assay
