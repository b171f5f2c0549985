/* One block of a tile against R rows of activations: the canonical step of a block-quantised dot. After an ISA's header.

   add_block<Format, R>(tile, x, sides, acc): acc[r] takes the block's products with x[r]. */
#pragma once

#include "kernels/block_dot/formats.h"
#include "kernels/formats/half.h"

namespace assay {
namespace {

// What is worked out once for an activation block and serves every tile.
struct Side {
  float d;
  int32_t offset;
};
template <class Format>
ASSAY_INLINE Side side_of(const BlockQ8_0& x) {
  return {half_value(x.d), Format::kOffset == 0 ? 0 : -Format::kOffset * code_sum(x.qs)};
}
struct NoSide {};
template <class Format>
ASSAY_INLINE NoSide side_of(const BlockQ8_K&) {
  return {};
}

constexpr int64_t at_most(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// The sums of `Members` groups that are made of the same bytes, into total.
template <class Format, int R, int Members, int Run>
ASSAY_INLINE void add_groups(const Format& format, const BlockQ8_K* const (&x)[R], Words (&total)[R]) {
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
        const int8_t* four = x[r]->qs + 4 * (G * kLines + I);
        sums[M][r] = I % kAtOnce == 0 ? dot(codes, four) : dot(sums[M][r], codes, four);
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
ASSAY_INLINE void add_block(const typename Format::Tile& tile, const BlockQ8_K* const (&x)[R], const NoSide (&)[R],
                            Floats (&acc)[R]) {
  constexpr int kTogether = kMembers<Format, R>;
  const Format format(tile);
  Words total[R];
  for (Words& words : total) words = no_words();
  for_each_index<Format::kGroups / kTogether>(
      [&](auto run) ASSAY_LAMBDA_INLINE { add_groups<Format, R, kTogether, decltype(run)::value>(format, x, total); });
  format.template add_to<R>(acc, total, x);
}

// Without a scale: eight lines into one sum.
template <class Format>
ASSAY_INLINE Words dot_of_32(const Words (&codes)[8], const int8_t* x, Words total) {
  constexpr int kAtOnce = static_cast<int>(at_most(kDotLines<Format::kMaxCode>, 8));
  ASSAY_UNROLL
  for (int first = 0; first < 8; first += kAtOnce) {
    Dots sums = dot(codes[first], x + 4 * first);
    ASSAY_UNROLL
    for (int l = first + 1; l < first + kAtOnce; ++l) sums = dot(sums, codes[l], x + 4 * l);
    total = add_plain(total, sums);
  }
  return total;
}
ASSAY_INLINE Words signed_dot_of_32(const Words (&codes)[8], const int8_t* x, Words total) {
  ASSAY_UNROLL
  for (int l = 0; l < 8; ++l) total = signed_dot(total, codes[l], x + 4 * l);
  return total;
}

template <class Format, int R>
ASSAY_INLINE void add_block(const typename Format::Tile& tile, const BlockQ8_0* const (&x)[R], const Side (&sides)[R],
                            Floats (&acc)[R]) {
  const Format format(tile);
  Words codes[8];
  for_each_index<8>([&](auto line) ASSAY_LAMBDA_INLINE {
    constexpr int L = decltype(line)::value;
    codes[L] = format.template codes<L>();
  });
  const Floats d = widen(tile.d);
  ASSAY_UNROLL
  for (int r = 0; r < R; ++r) {
    const Words start = Format::kOffset == 0 ? no_words() : repeat_int(sides[r].offset);
    Words i1;
    if constexpr (Format::kSigned) {
      i1 = signed_dot_of_32(codes, x[r]->qs, start);
    } else {
      i1 = dot_of_32<Format>(codes, x[r]->qs, start);
    }
    acc[r] = fma(times(d, repeat_f32(sides[r].d)), to_f32(i1), acc[r]);
  }
}

}  // namespace
}  // namespace assay
