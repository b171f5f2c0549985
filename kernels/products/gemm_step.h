/* One block of T tiles against R rows of activations: the canonical step of a block-quantised dot. After an ISA's header.

   add_block<Format>(weights, x, sides, acc): acc[t][r] takes the products of tile t's block with the codes x[r]. A tile's weights are
   a Format over it (formats.h), or one that is opened (opened.h). Four activations are repeated in a register once for all tiles. */
#pragma once

#include "kernels/block_dot/formats.h"

namespace assay {
namespace {

constexpr int64_t at_most(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// f(t, r) for every tile and row.
template <int T, int R, class F>
ASSAY_INLINE void for_each_sum(F f) {
  ASSAY_UNROLL
  for (int r = 0; r < R; ++r) {
    ASSAY_UNROLL
    for (int t = 0; t < T; ++t) f(t, r);
  }
}

// The sums of `Members` groups that are made of the same bytes, into total.
template <class Format, int T, int R, int Members, int Run, class Weights, class Total>
ASSAY_INLINE void add_groups(const Weights* const (&weights)[T], const int8_t* const (&x)[R],
                             const typename Format::Side* const (&sides)[R], Total (&total)[T][R]) {
  constexpr int kLines = Format::kGroupLines;
  constexpr int kAtOnce = static_cast<int>(at_most(kDotLines<Format::kMaxCode>, kLines));
  static_assert(kAtOnce > 0 && kLines % kAtOnce == 0);
  Dots sums[Members][T][R];
  for_each_index<kLines>([&](auto line) ASSAY_LAMBDA_INLINE {
    constexpr int I = decltype(line)::value;
    for_each_index<Members>([&](auto member) ASSAY_LAMBDA_INLINE {
      constexpr int M = decltype(member)::value;
      constexpr int G = Members == 1 ? Run : Format::group_of(Run, M);
      Words codes[T];
      ASSAY_UNROLL
      for (int t = 0; t < T; ++t) codes[t] = weights[t]->template codes<G, I>();
      ASSAY_UNROLL
      for (int r = 0; r < R; ++r) {
        const Words four = repeat(x[r] + 4 * (G * kLines + I));
        ASSAY_UNROLL
        for (int t = 0; t < T; ++t) {
          Dots& sum = sums[M][t][r];
          if constexpr (I % kAtOnce != 0) {
            sum = dot(sum, codes[t], four);
          } else if constexpr (Format::kStarts) {
            sum = dot(repeat(&sides[r]->starts[G]), codes[t], four);
          } else {
            sum = dot(codes[t], four);
          }
        }
      }
      if constexpr ((I + 1) % kAtOnce == 0) {
        ASSAY_UNROLL
        for (int t = 0; t < T; ++t) {
          const auto scale = weights[t]->template scale<G>();
          ASSAY_UNROLL
          for (int r = 0; r < R; ++r) total[t][r] = add_scaled(total[t][r], sums[M][t][r], scale);
        }
      }
    });
  });
}

// One row of activations takes groups that share bytes together, and loads these once; for more rows loads do not count, and
// registers do.
template <class Format, int R>
inline constexpr int kMembers = R == 1 ? Format::kTogether : 1;

// The sums of pairs<P>() times the activations' sums of those groups.
template <class Format, int T, int R, class Weights>
ASSAY_INLINE void add_pairs(const Weights* const (&weights)[T], const typename Format::Side* const (&sides)[R],
                            Words (&total)[T][R]) {
  for_each_sum<T, R>([&](int t, int r) ASSAY_LAMBDA_INLINE { total[t][r] = no_words(); });
  for_each_index<Format::kGroups / 2>([&](auto pair) ASSAY_LAMBDA_INLINE {
    constexpr int P = decltype(pair)::value;
    Words pairs[T];
    ASSAY_UNROLL
    for (int t = 0; t < T; ++t) pairs[t] = weights[t]->template pairs<P>();
    for_each_sum<T, R>(
        [&](int t, int r) ASSAY_LAMBDA_INLINE { total[t][r] = pair_dot(total[t][r], pairs[t], repeat(sides[r]->sums + 2 * P)); });
  });
}

// I1 as f32. Begun with what the codes of q6_k are too large.
template <class Format, int T, int R, class Weights>
ASSAY_INLINE void sum_in_words(const Weights* const (&weights)[T], const int8_t* const (&x)[R],
                               const typename Format::Side* const (&sides)[R], Floats (&i1)[T][R]) {
  constexpr int kTogether = kMembers<Format, R>;
  Words total[T][R];
  for_each_sum<T, R>([&](int t, int r) ASSAY_LAMBDA_INLINE { total[t][r] = no_words(); });
  if constexpr (Format::kOffset > 0 && !Format::kStarts) {
    add_pairs<Format>(weights, sides, total);
    for_each_sum<T, R>([&](int t, int r) ASSAY_LAMBDA_INLINE { total[t][r] = minus(no_words(), shift_left<5>(total[t][r])); });
  }
  for_each_index<Format::kGroups / kTogether>(
      [&](auto run) ASSAY_LAMBDA_INLINE { add_groups<Format, T, R, kTogether, decltype(run)::value>(weights, x, sides, total); });
  for_each_sum<T, R>([&](int t, int r)
                         ASSAY_LAMBDA_INLINE { i1[t][r] = to_f32(shift_right_signed<Format::kExcess>(total[t][r])); });
}

// The same in f32: exact as long as what is added up is less than 2^24, here in each half; their sum is rounded as I1 would be.
template <class Format, int T, int R, class Weights>
ASSAY_INLINE void sum_in_f32(const Weights* const (&weights)[T], const int8_t* const (&x)[R],
                             const typename Format::Side* const (&sides)[R], Floats (&i1)[T][R]) {
  constexpr int kHalf = Format::kGroups / 2;
  static_assert(kHalf * Format::kMaxScaled <= 1 << 24);
  Floats halves[2][T][R];
  for_each_sum<T, R>([&](int t, int r) ASSAY_LAMBDA_INLINE { halves[0][t][r] = halves[1][t][r] = repeat_f32(0.0f); });
  for_each_index<Format::kGroups>([&](auto group) ASSAY_LAMBDA_INLINE {
    constexpr int G = decltype(group)::value;
    add_groups<Format, T, R, 1, G>(weights, x, sides, halves[G / kHalf]);
  });
  for_each_sum<T, R>([&](int t, int r) ASSAY_LAMBDA_INLINE { i1[t][r] = plus(halves[0][t][r], halves[1][t][r]); });
}

// acc = fma(d_w d_x, I1, acc), then for formats with minima acc = fma(-(dmin_w d_x), I2, acc).
template <class Format, int T, int R, class Weights>
ASSAY_INLINE void add_super_block(const Weights* const (&weights)[T], const int8_t* const (&x)[R],
                                  const typename Format::Side* const (&sides)[R], Floats (&acc)[T][R]) {
  Floats i1[T][R];
  if constexpr (Weights::kInF32) {
    sum_in_f32<Format>(weights, x, sides, i1);
  } else {
    sum_in_words<Format>(weights, x, sides, i1);
  }
  for_each_sum<T, R>([&](int t, int r) ASSAY_LAMBDA_INLINE {
    acc[t][r] = fma(times(weights[t]->d(), repeat_f32(sides[r]->d)), i1[t][r], acc[t][r]);
  });
  if constexpr (Format::kOffset == 0) {
    Words minima[T][R];
    add_pairs<Format>(weights, sides, minima);
    for_each_sum<T, R>([&](int t, int r) ASSAY_LAMBDA_INLINE {
      acc[t][r] = fnma(times(weights[t]->dmin(), repeat_f32(sides[r]->d)), to_f32(minima[t][r]), acc[t][r]);
    });
  }
}

template <class Format, int T, int R, class Weights>
ASSAY_INLINE void add_block_of_32(const Weights* const (&weights)[T], const int8_t* const (&x)[R],
                                  const typename Format::Side* const (&sides)[R], Floats (&acc)[T][R]) {
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
  for_each_sum<T, R>([&](int t, int r) ASSAY_LAMBDA_INLINE {
    acc[t][r] = fma(times(weights[t]->d(), repeat_f32(sides[r]->d)), to_f32(i1[t][r]), acc[t][r]);
  });
}

template <class Format, int T, int R, class Weights>
ASSAY_INLINE void add_block(const Weights* const (&weights)[T], const int8_t* const (&x)[R],
                            const typename Format::Side* const (&sides)[R], Floats (&acc)[T][R]) {
  if constexpr (Format::kElements == ASSAY_QK_K) {
    add_super_block<Format>(weights, x, sides, acc);
  } else {
    add_block_of_32<Format>(weights, x, sides, acc);
  }
}

}  // namespace
}  // namespace assay
