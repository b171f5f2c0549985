/* A super-block of T opened tiles against R rows of activations: the canonical step. Four activations are repeated in a register once
   for all tiles. Opened tiles are memory, so that groups are a loop when it runs, not when it is compiled: the same speed, and a
   fifth of the code. */
#pragma once

#include "kernels/products/opened.h"
#include "kernels/products/steps.h"

namespace assay {
namespace {

// The sums of group g into total.
template <class Format, int T, int R, class Total>
ASSAY_INLINE void add_group(const Opened<Format>* const (&weights)[T], const int8_t* const (&x)[R],
                            const typename Format::Side* const (&sides)[R], int g, Total (&total)[T][R]) {
  constexpr int kLines = Format::kGroupLines;
  constexpr int kAtOnce = static_cast<int>(at_most(kDotLines<Format::kMaxCode>, kLines));
  static_assert(kAtOnce > 0 && kLines % kAtOnce == 0);
  Dots sums[T][R];
  for_each_index<kLines>([&](auto line) ASSAY_LAMBDA_INLINE {
    constexpr int I = decltype(line)::value;
    Words codes[T];
    ASSAY_UNROLL
    for (int t = 0; t < T; ++t) codes[t] = weights[t]->codes(g * kLines + I);
    ASSAY_UNROLL
    for (int r = 0; r < R; ++r) {
      const Words four = repeat(x[r] + 4 * (g * kLines + I));
      ASSAY_UNROLL
      for (int t = 0; t < T; ++t) {
        sums[t][r] = I % kAtOnce == 0 ? first_dot<Format>(*sides[r], g, codes[t], four) : dot(sums[t][r], codes[t], four);
      }
    }
    if constexpr ((I + 1) % kAtOnce == 0) {
      ASSAY_UNROLL
      for (int t = 0; t < T; ++t) {
        const auto scale = weights[t]->scale(g);
        ASSAY_UNROLL
        for (int r = 0; r < R; ++r) total[t][r] = add_scaled(total[t][r], sums[t][r], scale);
      }
    }
  });
}

// The sums of pairs(p) times the activations' sums of those groups.
template <class Format, int T, int R>
ASSAY_INLINE void add_pairs(const Opened<Format>* const (&weights)[T], const typename Format::Side* const (&sides)[R],
                            Words (&total)[T][R]) {
  for_each_sum<T, R>([&](int t, int r) ASSAY_LAMBDA_INLINE { total[t][r] = no_words(); });
  for (int p = 0; p < Format::kGroups / 2; ++p) {
    Words pairs[T];
    ASSAY_UNROLL
    for (int t = 0; t < T; ++t) pairs[t] = weights[t]->pairs(p);
    for_each_sum<T, R>(
        [&](int t, int r) ASSAY_LAMBDA_INLINE { total[t][r] = pair_dot(total[t][r], pairs[t], repeat(sides[r]->sums + 2 * p)); });
  }
}

// I1 as f32. Begun with what the codes of q6_k are too large.
template <class Format, int T, int R>
ASSAY_INLINE void sum_in_words(const Opened<Format>* const (&weights)[T], const int8_t* const (&x)[R],
                               const typename Format::Side* const (&sides)[R], F32x16 (&i1)[T][R]) {
  Words total[T][R];
  if constexpr (Format::kOffset > 0 && !Format::kStarts) {
    add_pairs<Format>(weights, sides, total);
    for_each_sum<T, R>([&](int t, int r) ASSAY_LAMBDA_INLINE { total[t][r] = sub(no_words(), shift_left<5>(total[t][r])); });
  } else {
    for_each_sum<T, R>([&](int t, int r) ASSAY_LAMBDA_INLINE { total[t][r] = no_words(); });
  }
  for (int g = 0; g < Format::kGroups; ++g) add_group<Format>(weights, x, sides, g, total);
  for_each_sum<T, R>([&](int t, int r)
                         ASSAY_LAMBDA_INLINE { i1[t][r] = to_f32(shift_right_signed<Format::kExcess>(total[t][r])); });
}

// The same in f32: exact as long as what is added up is less than 2^24, here in each half; their sum is rounded as I1 would be.
template <class Format, int T, int R>
ASSAY_INLINE void sum_in_f32(const Opened<Format>* const (&weights)[T], const int8_t* const (&x)[R],
                             const typename Format::Side* const (&sides)[R], F32x16 (&i1)[T][R]) {
  constexpr int kHalf = Format::kGroups / 2;
  static_assert(kHalf * Format::kMaxScaled <= 1 << 24);
  for_each_sum<T, R>([&](int t, int r) ASSAY_LAMBDA_INLINE { i1[t][r] = broadcast(0.0f); });
  for (int first = 0; first < Format::kGroups; first += kHalf) {
    F32x16 half[T][R];
    for_each_sum<T, R>([&](int t, int r) ASSAY_LAMBDA_INLINE { half[t][r] = broadcast(0.0f); });
    for (int g = first; g < first + kHalf; ++g) add_group<Format>(weights, x, sides, g, half);
    for_each_sum<T, R>([&](int t, int r) ASSAY_LAMBDA_INLINE { i1[t][r] = add(i1[t][r], half[t][r]); });
  }
}

template <class Format, int T, int R>
ASSAY_INLINE void add_super_block(const Opened<Format>* const (&weights)[T], const int8_t* const (&x)[R],
                                  const typename Format::Side* const (&sides)[R], F32x16 (&acc)[T][R]) {
  F32x16 i1[T][R];
  if constexpr (Opened<Format>::kInF32) {
    sum_in_f32<Format>(weights, x, sides, i1);
  } else {
    sum_in_words<Format>(weights, x, sides, i1);
  }
  for_each_sum<T, R>([&](int t, int r)
                         ASSAY_LAMBDA_INLINE { acc[t][r] = add_first(*weights[t], *sides[r], i1[t][r], acc[t][r]); });
  if constexpr (Format::kOffset == 0) {
    Words minima[T][R];
    add_pairs<Format>(weights, sides, minima);
    for_each_sum<T, R>([&](int t, int r)
                           ASSAY_LAMBDA_INLINE { acc[t][r] = add_second(*weights[t], *sides[r], minima[t][r], acc[t][r]); });
  }
}

}  // namespace
}  // namespace assay
