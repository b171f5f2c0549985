/* One block of a tile against R rows of activations: the canonical step of a block-quantised dot. After an ISA's header.

   add_block<Format, R>(tile, x, sides, acc): acc[r] takes the block's products with the codes x[r]. */
#pragma once

#include "kernels/block_dot/formats.h"

namespace assay {
namespace {

constexpr int64_t at_most(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// The sums of `Members` groups that are made of the same bytes, into total.
template <class Format, int R, int Members, int Run>
ASSAY_INLINE void add_groups(const Format& format, const int8_t* const (&x)[R], const typename Format::Side* const (&sides)[R],
                             Words (&total)[R]) {
  constexpr int kLines = Format::kGroupLines;
  constexpr int kAtOnce = static_cast<int>(at_most(kDotLines<Format::kMaxCode>, kLines));
  static_assert(kAtOnce > 0 && kLines % kAtOnce == 0);
  Dots sums[Members][R];
  for_each_index<kLines>([&](auto line) ASSAY_LAMBDA_INLINE {
    constexpr int I = decltype(line)::value;
    for_each_index<Members>([&](auto member) ASSAY_LAMBDA_INLINE {
      constexpr int M = decltype(member)::value;
      constexpr int G = Members == 1 ? Run : Format::group_of(Run, M);
      const Words codes = format.template codes<G, I>();
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
        const Scale scale = format.template scale<G>();
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

template <class Format, int R>
ASSAY_INLINE void add_super_block(const Format& format, const int8_t* const (&x)[R],
                                  const typename Format::Side* const (&sides)[R], Floats (&acc)[R]) {
  constexpr int kTogether = kMembers<Format, R>;
  Words total[R];
  format.start(total, sides);
  for_each_index<Format::kGroups / kTogether>(
      [&](auto run) ASSAY_LAMBDA_INLINE { add_groups<Format, R, kTogether, decltype(run)::value>(format, x, sides, total); });
  format.template add_to<R>(acc, total, sides);
}

template <class Format, int R>
ASSAY_INLINE void add_block_of_32(const Format& format, const int8_t* const (&x)[R],
                                  const typename Format::Side* const (&sides)[R], Floats (&acc)[R]) {
  constexpr int kAtOnce = static_cast<int>(at_most(kDotLines<Format::kMaxCode>, 8));
  Words i1[R];
  Dots sums[R];
  ASSAY_UNROLL
  for (int r = 0; r < R; ++r) i1[r] = Format::kOffset == 0 ? no_words() : repeat_int(sides[r]->offset);
  for_each_index<8>([&](auto line) ASSAY_LAMBDA_INLINE {
    constexpr int L = decltype(line)::value;
    const Words codes = format.template codes<L>();
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
  const Floats d = widen(format.tile.d);
  ASSAY_UNROLL
  for (int r = 0; r < R; ++r) acc[r] = fma(times(d, repeat_f32(sides[r]->d)), to_f32(i1[r]), acc[r]);
}

template <class Format, int R>
ASSAY_INLINE void add_block(const typename Format::Tile& tile, const int8_t* const (&x)[R],
                            const typename Format::Side* const (&sides)[R], Floats (&acc)[R]) {
  const Format format(tile);
  if constexpr (Format::kElements == ASSAY_QK_K) {
    add_super_block<Format, R>(format, x, sides, acc);
  } else {
    add_block_of_32<Format, R>(format, x, sides, acc);
  }
}

}  // namespace
}  // namespace assay
