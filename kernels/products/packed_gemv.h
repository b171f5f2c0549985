/* gemv over packed weights. After an ISA's lanes and dots.

   A lane is a row, so no sum crosses lanes and a block's step is the canonical one: integers, then one or two fma. Packed weights are
   read as they lie, one ascending stream. Which bytes a group's codes are made of must be known when it is compiled: groups are
   unrolled. */
#pragma once

#include "kernels/products/sixteen_rows.h"
#include "kernels/products/steps.h"
#include "kernels/simd/prefetch.h"

namespace assay {
namespace {

// Columns that gemv takes at a time: more than models have, so that weights are read as they lie.
constexpr int64_t kGemvElements = 16384;

template <class Tile>
ASSAY_INLINE void prefetch_tile(const Tile& tile) {
  for (size_t at = 0; at < sizeof tile; at += 64) prefetch_line<kFarAhead>(reinterpret_cast<const char*>(&tile) + at);
}

// The sums of the groups of a run, which are made of the same bytes, into total.
template <class Format, int Run>
ASSAY_INLINE void add_run(const Format& w, const int8_t* x, const typename Format::Side& side, Words& total) {
  constexpr int kLines = Format::kGroupLines;
  constexpr int kAtOnce = static_cast<int>(at_most(kDotLines<Format::kMaxCode>, kLines));
  static_assert(kAtOnce > 0 && kLines % kAtOnce == 0);
  Dots sums[Format::kTogether];
  for_each_index<kLines>([&](auto line) ASSAY_LAMBDA_INLINE {
    constexpr int I = decltype(line)::value;
    for_each_index<Format::kTogether>([&](auto member) ASSAY_LAMBDA_INLINE {
      constexpr int M = decltype(member)::value;
      constexpr int G = Format::group_of(Run, M);
      const Words codes = w.template codes<G, I>();
      const Words four = repeat(x + 4 * (G * kLines + I));
      sums[M] = I % kAtOnce == 0 ? first_dot<Format>(side, G, codes, four) : dot(sums[M], codes, four);
      if constexpr ((I + 1) % kAtOnce == 0) total = add_scaled(total, sums[M], w.template scale<G>());
    });
  });
}

// The sum of pairs<P>() times the activations' sums of those groups.
template <class Format>
ASSAY_INLINE Words sum_of_pairs(const Format& w, const typename Format::Side& side) {
  Words total = no_words();
  for_each_index<Format::kGroups / 2>([&](auto pair) ASSAY_LAMBDA_INLINE {
    constexpr int P = decltype(pair)::value;
    total = pair_dot(total, w.template pairs<P>(), repeat(side.sums + 2 * P));
  });
  return total;
}

// I1 begins with what the codes of q6_k are too large.
template <class Format>
ASSAY_INLINE F32x16 add_super_block(const Format& w, const int8_t* x, const typename Format::Side& side, F32x16 acc) {
  Words i1 = no_words();
  if constexpr (Format::kOffset > 0 && !Format::kStarts) i1 = sub(no_words(), shift_left<5>(sum_of_pairs(w, side)));
  for_each_index<Format::kGroups / Format::kTogether>(
      [&](auto run) ASSAY_LAMBDA_INLINE { add_run<Format, decltype(run)::value>(w, x, side, i1); });
  acc = add_first(w, side, to_f32(shift_right_signed<Format::kExcess>(i1)), acc);
  if constexpr (Format::kOffset == 0) acc = add_second(w, side, sum_of_pairs(w, side), acc);
  return acc;
}

template <class Format>
ASSAY_INLINE F32x16 add_block(const Format& w, const int8_t* x, const typename Format::Side& side, F32x16 acc) {
  if constexpr (Format::kElements == ASSAY_QK_K) {
    return add_super_block(w, x, side, acc);
  } else {
    const Format* const weights[1] = {&w};
    const int8_t* const codes[1] = {x};
    const typename Format::Side* const sides[1] = {&side};
    F32x16 sums[1][1] = {{acc}};
    add_block_of_32<Format>(weights, codes, sides, sums);
    return sums[0][0];
  }
}

// Packed weights are one ascending stream.
template <class Tile, class X>
inline AssayStatus gemv(const Typed<Packed<Tile>, X>& args) {
  using Format = FormatOf<Packed<Tile>>;
  if (args.k % Format::kElements != 0) return ASSAY_BAD_SHAPE;
  constexpr int64_t kBlocks = kGemvElements / Format::kElements;
  const int64_t blocks = args.k / Format::kElements;
  const bool ahead = !follows_streams();
  typename Format::Side sides[kBlocks];
  int64_t b0 = 0;
  do {  // once for k = 0 too: it writes +0
    const int64_t count = at_most(kBlocks, blocks - b0);
    const X* x = args.x + b0;
    for (int64_t b = 0; b < count; ++b) sides[b].take(x[b]);
    for (int64_t row = 0; row < args.n; row += kPackedRows) {
      const Tile* tiles = args.w + row / kPackedRows * blocks + b0;
      F32x16 sums = b0 == 0 ? broadcast(0.0f) : load_rows(args.y + row, args.n - row);
      for (int64_t b = 0; b < count; ++b) {
        if (ahead) prefetch_tile(tiles[b]);
        sums = add_block<Format>(Format(tiles[b]), x[b].qs, sides[b], sums);
      }
      store_rows(args.y + row, sums, args.n - row);
    }
    b0 += kBlocks;
  } while (b0 < blocks);
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
