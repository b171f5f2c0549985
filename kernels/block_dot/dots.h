/* One block of a tile against R rows of activations: the canonical step of a block-quantised dot. After an ISA's header.

   add_block<Format>(weights, x, sides, acc): acc[r] takes the block's products with the codes x[r]. The weights are a Format over a tile
   (formats.h), or one that is opened (opened.h). */
#pragma once

#include "kernels/block_dot/formats.h"

namespace assay {
namespace {

constexpr int64_t at_most(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// The sums of `Members` groups that are made of the same bytes, into total.
template <class Format, int R, int Members, int Run, class Weights, class Total>
ASSAY_INLINE void add_groups(const Weights& weights, const int8_t* const (&x)[R], const typename Format::Side* const (&sides)[R],
                             Total (&total)[R]) {
  constexpr int kLines = Format::kGroupLines;
  constexpr int kAtOnce = static_cast<int>(at_most(kDotLines<Format::kMaxCode>, kLines));
  static_assert(kAtOnce > 0 && kLines % kAtOnce == 0);
  Dots sums[Members][R];
  for_each_index<kLines>([&](auto line) ASSAY_LAMBDA_INLINE {
    constexpr int I = decltype(line)::value;
    for_each_index<Members>([&](auto member) ASSAY_LAMBDA_INLINE {
      constexpr int M = decltype(member)::value;
      constexpr int G = Members == 1 ? Run : Format::group_of(Run, M);
      const Words codes = weights.template codes<G, I>();
      ASSAY_UNROLL
      for (int r = 0; r < R; ++r) {
        const int8_t* four = x[r] + 4 * (G * kLines + I);
        if constexpr (I % kAtOnce != 0) {
          sums[M][r] = dot(sums[M][r], codes, four);
        } else if constexpr (Format::kStarts) {
          sums[M][r] = dot(repeat(&sides[r]->starts[G]), codes, four);
        } else {
          sums[M][r] = dot(codes, four);
        }
      }
      if constexpr ((I + 1) % kAtOnce == 0) {
        const auto scale = weights.template scale<G>();
        ASSAY_UNROLL
        for (int r = 0; r < R; ++r) total[r] = add_scaled(total[r], sums[M][r], scale);
      }
    });
  });
}

// One row of activations takes groups that share bytes together, and loads these once; for more rows loads do not count, and
// registers do.
template <class Format, int R>
inline constexpr int kMembers = R == 1 ? Format::kTogether : 1;

// The sums of pairs<P>() times the activations' sums of those groups.
template <class Format, int R, class Weights>
ASSAY_INLINE void add_pairs(const Weights& weights, const typename Format::Side* const (&sides)[R], Words (&total)[R]) {
  for (Words& words : total) words = no_words();
  for_each_index<Format::kGroups / 2>([&](auto pair) ASSAY_LAMBDA_INLINE {
    constexpr int P = decltype(pair)::value;
    const Words pairs = weights.template pairs<P>();
    ASSAY_UNROLL
    for (int r = 0; r < R; ++r) total[r] = pair_dot(total[r], pairs, sides[r]->sums + 2 * P);
  });
}

// I1 as f32. Begun with what the codes of q6_k are too large.
template <class Format, int R, class Weights>
ASSAY_INLINE void sum_in_words(const Weights& weights, const int8_t* const (&x)[R],
                               const typename Format::Side* const (&sides)[R], Floats (&i1)[R]) {
  constexpr int kTogether = kMembers<Format, R>;
  Words total[R];
  for (Words& words : total) words = no_words();
  if constexpr (Format::kOffset > 0 && !Format::kStarts) {
    add_pairs<Format>(weights, sides, total);
    for (Words& words : total) words = minus(no_words(), shift_left<5>(words));
  }
  for_each_index<Format::kGroups / kTogether>(
      [&](auto run) ASSAY_LAMBDA_INLINE { add_groups<Format, R, kTogether, decltype(run)::value>(weights, x, sides, total); });
  ASSAY_UNROLL
  for (int r = 0; r < R; ++r) i1[r] = to_f32(shift_right_signed<Format::kExcess>(total[r]));
}

// The same in f32: exact as long as what is added up is less than 2^24, here in each half; their sum is rounded as I1 would be.
template <class Format, int R, class Weights>
ASSAY_INLINE void sum_in_f32(const Weights& weights, const int8_t* const (&x)[R], const typename Format::Side* const (&sides)[R],
                             Floats (&i1)[R]) {
  constexpr int kHalf = Format::kGroups / 2;
  static_assert(kHalf * Format::kMaxScaled <= 1 << 24);
  Floats halves[2][R];
  for (Floats(&half)[R] : halves) {
    for (Floats& sums : half) sums = repeat_f32(0.0f);
  }
  for_each_index<Format::kGroups>([&](auto group) ASSAY_LAMBDA_INLINE {
    constexpr int G = decltype(group)::value;
    add_groups<Format, R, 1, G>(weights, x, sides, halves[G / kHalf]);
  });
  ASSAY_UNROLL
  for (int r = 0; r < R; ++r) i1[r] = plus(halves[0][r], halves[1][r]);
}

// acc = fma(d_w d_x, I1, acc), then for formats with minima acc = fma(-(dmin_w d_x), I2, acc).
template <class Format, int R, class Weights>
ASSAY_INLINE void add_super_block(const Weights& weights, const int8_t* const (&x)[R],
                                  const typename Format::Side* const (&sides)[R], Floats (&acc)[R]) {
  Floats i1[R];
  if constexpr (Weights::kInF32) {
    sum_in_f32<Format>(weights, x, sides, i1);
  } else {
    sum_in_words<Format>(weights, x, sides, i1);
  }
  const Floats d = weights.d();
  if constexpr (Format::kOffset > 0) {
    ASSAY_UNROLL
    for (int r = 0; r < R; ++r) acc[r] = fma(times(d, repeat_f32(sides[r]->d)), i1[r], acc[r]);
  } else {
    Words minima[R];
    add_pairs<Format>(weights, sides, minima);
    const Floats dmin = weights.dmin();
    ASSAY_UNROLL
    for (int r = 0; r < R; ++r) {
      const Floats dx = repeat_f32(sides[r]->d);
      acc[r] = fma(times(d, dx), i1[r], acc[r]);
      acc[r] = fnma(times(dmin, dx), to_f32(minima[r]), acc[r]);
    }
  }
}

template <class Format, int R, class Weights>
ASSAY_INLINE void add_block_of_32(const Weights& weights, const int8_t* const (&x)[R],
                                  const typename Format::Side* const (&sides)[R], Floats (&acc)[R]) {
  constexpr int kAtOnce = static_cast<int>(at_most(kDotLines<Format::kMaxCode>, 8));
  Words i1[R];
  Dots sums[R];
  ASSAY_UNROLL
  for (int r = 0; r < R; ++r) i1[r] = Format::kOffset == 0 ? no_words() : repeat_int(sides[r]->offset);
  for_each_index<8>([&](auto line) ASSAY_LAMBDA_INLINE {
    constexpr int L = decltype(line)::value;
    const Words codes = weights.template codes<L>();
    ASSAY_UNROLL
    for (int r = 0; r < R; ++r) {
      const int8_t* four = x[r] + 4 * L;
      if constexpr (Format::kSigned) {
        i1[r] = signed_dot(i1[r], codes, four);
      } else {
        sums[r] = L % kAtOnce == 0 ? dot(codes, four) : dot(sums[r], codes, four);
        if constexpr ((L + 1) % kAtOnce == 0) i1[r] = add_plain(i1[r], sums[r]);
      }
    }
  });
  const Floats d = weights.d();
  ASSAY_UNROLL
  for (int r = 0; r < R; ++r) acc[r] = fma(times(d, repeat_f32(sides[r]->d)), to_f32(i1[r]), acc[r]);
}

template <class Format, int R, class Weights>
ASSAY_INLINE void add_block(const Weights& weights, const int8_t* const (&x)[R], const typename Format::Side* const (&sides)[R],
                            Floats (&acc)[R]) {
  if constexpr (Format::kElements == ASSAY_QK_K) {
    add_super_block<Format>(weights, x, sides, acc);
  } else {
    add_block_of_32<Format>(weights, x, sides, acc);
  }
}

}  // namespace
}  // namespace assay
