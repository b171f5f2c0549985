/* How the lines of a tile become codes, scales and minima. After avx2.h, avx512.h or avx512vnni.h.

   A format's code lines hold elements 4 l .. 4 l + 3 of each row, one a byte; a lane is a row.
   Super-blocks (K): codes<G, I>() is line I of group G (the elements that share a scale), scale<G>() that scale, and
   add_to<R>(...) ends a block. kTogether groups share the bytes they are made of: member P of run N is group_of(N, P).
   Blocks of 32: codes<L>() is line L, whose codes are kOffset too large. */
#pragma once

#include "kernels/block_dot/tiles.h"
#include "kernels/block_dot/unroll.h"

namespace assay {
namespace {

ASSAY_INLINE Words low_nibbles(Words v) {
  return bits_of(v, 15);
}
ASSAY_INLINE Words high_nibbles(Words v) {
  return bits_of(shift_right<4>(v), 15);
}

// In 32-bit lanes, either way: what crosses a byte's border is masked off afterwards.
template <int Left>
ASSAY_INLINE Words shifted(Words v) {
  if constexpr (Left > 0) return shift_left<Left>(v);
  if constexpr (Left < 0) return shift_right<-Left>(v);
  return v;
}

// What q4_k and q5_k share: 6-bit scales and minima (the layout is in kernels/formats/blocks.h), eight groups of 32.
template <class TileType>
struct ScalesAndMinima {
  using Tile = TileType;
  using Activation = BlockQ8_K;
  static constexpr int kElements = ASSAY_QK_K;
  static constexpr int kGroups = 8;
  static constexpr int kGroupLines = 8;
  static constexpr int kTogether = 2;
  static constexpr int group_of(int run, int member) { return 2 * run + member; }

  const Tile& tile;
  Words sc[2];

  ASSAY_INLINE explicit ScalesAndMinima(const Tile& t) : tile(t) {
    const Words w0 = load_words(tile.scales[0][0]);
    const Words w2 = load_words(tile.scales[2][0]);
    sc[0] = bits_of(w0, 63);
    sc[1] = join(low_nibbles(w2), bits_of(shift_right<2>(w0), 0x30));
  }
  template <int G>
  ASSAY_INLINE Scale scale() const {
    return unsigned_scale<G % 4>(sc[G / 4]);
  }

  // acc = fma(d_w d_x, I1, acc), then acc = fma(-(dmin_w d_x), I2, acc).
  // The totals are 2^Excess times I1.
  template <int Excess, int R>
  ASSAY_INLINE void add_with_minima(Floats (&acc)[R], const Words (&total)[R], const Activation* const (&x)[R]) const {
    const Words w1 = load_words(tile.scales[1][0]);
    const Words w2 = load_words(tile.scales[2][0]);
    const Words m[2] = {bits_of(w1, 63), join(high_nibbles(w2), bits_of(shift_right<2>(w1), 0x30))};
    Words minima[R];
    for (Words& words : minima) words = no_words();
    for_each_index<kGroups>([&](auto g) ASSAY_LAMBDA_INLINE {
      constexpr int G = decltype(g)::value;
      const Words pairs = byte_pairs<G % 4>(m[G / 4]);
      ASSAY_UNROLL
      for (int r = 0; r < R; ++r) minima[r] = pair_dot(minima[r], pairs, x[r]->bsums + 2 * G);
    });
    const Floats d = widen(tile.d);
    const Floats dmin = widen(tile.dmin);
    ASSAY_UNROLL
    for (int r = 0; r < R; ++r) {
      const Floats dx = repeat_f32(x[r]->d);
      acc[r] = fma(times(d, dx), to_f32(shift_right_signed<Excess>(total[r])), acc[r]);
      acc[r] = fnma(times(dmin, dx), to_f32(minima[r]), acc[r]);
    }
  }
};

struct Q4K : ScalesAndMinima<BlockQ4_Kx16> {
  using Block = BlockQ4_K;
  static constexpr int kMaxCode = 15;
  using ScalesAndMinima::ScalesAndMinima;

  template <int G, int I>
  ASSAY_INLINE Words codes() const {
    const Words bytes = load_words(tile.qs[G / 2 * 8 + I][0]);
    if constexpr (G % 2 == 0) return low_nibbles(bytes);
    return kHighNibbles == 0 ? high_nibbles(bytes) : bits_of(bytes, 0xf0);
  }
  // Where high nibbles are taken sixteen times too large, low ones get a scale sixteen times too large.
  template <int G>
  ASSAY_INLINE Scale scale() const {
    const Scale s = ScalesAndMinima::scale<G>();
    return G % 2 == 0 ? shifted<kHighNibbles>(s) : s;
  }
  template <int R>
  ASSAY_INLINE void add_to(Floats (&acc)[R], const Words (&total)[R], const Activation* const (&x)[R]) const {
    add_with_minima<kHighNibbles>(acc, total, x);
  }
};

struct Q5K : ScalesAndMinima<TileQ5K> {
  using Block = BlockQ5_K;
  static constexpr int kMaxCode = 31;
  using ScalesAndMinima::ScalesAndMinima;

  template <int G, int I>
  ASSAY_INLINE Words codes() const {
    const Words bytes = load_words(tile.qs[G / 2 * 8 + I][0]);
    const Words fifth = bits_of(shifted<4 - G>(load_words(tile.qh[I][0])), 0x10);
    return join(G % 2 == 0 ? low_nibbles(bytes) : high_nibbles(bytes), fifth);
  }
  template <int R>
  ASSAY_INLINE void add_to(Floats (&acc)[R], const Words (&total)[R], const Activation* const (&x)[R]) const {
    add_with_minima<0>(acc, total, x);
  }
};

// Sixteen groups of 16. Group G = 8 h + 2 q + s: half h of 128 elements, quarter q, elements 16 s .. 16 s + 15 of it.
struct Q6K {
  using Block = BlockQ6_K;
  using Tile = BlockQ6_Kx16;
  using Activation = BlockQ8_K;
  static constexpr int kElements = ASSAY_QK_K;
  static constexpr int kMaxCode = 63;
  static constexpr int kGroups = 16;
  static constexpr int kGroupLines = 4;
  static constexpr int kTogether = 4;
  static constexpr int group_of(int run, int member) { return run / 2 * 8 + 2 * member + run % 2; }

  const Tile& tile;
  ASSAY_INLINE explicit Q6K(const Tile& t) : tile(t) {}

  template <int G, int I>
  ASSAY_INLINE Words codes() const {
    constexpr int h = G / 8, q = G % 8 / 2, s = G % 2;
    const TripleQ6_Kx16& triple = tile.triples[8 * h + 4 * s + I];
    const Words low = load_words(triple.ql[q % 2][0]);
    const Words high = load_words(triple.qh[0]);
    return join(q < 2 ? low_nibbles(low) : high_nibbles(low), bits_of(shifted<4 - 2 * q>(high), 0x30));
  }
  template <int G>
  ASSAY_INLINE Scale scale() const {
    return signed_scale<G % 4>(load_words(tile.scales[G / 4][0]));
  }

  // Codes are 32 too large: I1 = total - 32 sum of sc_G times the sum of the activations' codes of G.
  template <int R>
  ASSAY_INLINE void add_to(Floats (&acc)[R], const Words (&total)[R], const Activation* const (&x)[R]) const {
    Words excess[R];
    for (Words& words : excess) words = no_words();
    for_each_index<kGroups / 2>([&](auto pair) ASSAY_LAMBDA_INLINE {
      constexpr int P = decltype(pair)::value;
      const Words pairs = adjacent_pairs<P % 2>(load_words(tile.scales[P / 2][0]));
      ASSAY_UNROLL
      for (int r = 0; r < R; ++r) excess[r] = pair_dot(excess[r], pairs, x[r]->bsums + 2 * P);
    });
    const Floats d = widen(tile.d);
    ASSAY_UNROLL
    for (int r = 0; r < R; ++r) {
      const Words i1 = minus(total[r], shift_left<5>(excess[r]));
      acc[r] = fma(times(d, repeat_f32(x[r]->d)), to_f32(i1), acc[r]);
    }
  }
};

template <class TileType>
struct Blocks32 {
  using Tile = TileType;
  using Activation = BlockQ8_0;
  static constexpr int kElements = ASSAY_QK;
  static constexpr int kLines = 8;
  const Tile& tile;
  ASSAY_INLINE explicit Blocks32(const Tile& t) : tile(t) {}
};

struct Q80 : Blocks32<BlockQ8_0x16> {
  using Block = BlockQ8_0;
  static constexpr bool kSigned = true;
  static constexpr int kMaxCode = 127;
  static constexpr int kOffset = kSignedOffset;
  using Blocks32::Blocks32;

  template <int L>
  ASSAY_INLINE Words codes() const {
    return load_words(tile.qs[L][0]);
  }
};

struct Q40 : Blocks32<TileQ40> {
  using Block = BlockQ4_0;
  static constexpr bool kSigned = false;
  static constexpr int kMaxCode = 15;
  static constexpr int kOffset = 8;
  using Blocks32::Blocks32;

  template <int L>
  ASSAY_INLINE Words codes() const {
    const Words bytes = load_words(tile.qs[L % 4][0]);
    return L < 4 ? low_nibbles(bytes) : high_nibbles(bytes);
  }
};

struct Q50 : Blocks32<TileQ50> {
  using Block = BlockQ5_0;
  static constexpr bool kSigned = false;
  static constexpr int kMaxCode = 31;
  static constexpr int kOffset = 16;
  using Blocks32::Blocks32;

  // Bits 4 L .. 4 L + 3 of qh are multiplied to four places 7 apart: bit i then stands at bit 4 of byte i.
  template <int L>
  ASSAY_INLINE Words codes() const {
    const Words bytes = load_words(tile.qs[L % 4][0]);
    const Words four = shift_right<28>(shift_left<28 - 4 * L>(load_words(tile.qh[0][0])));
    const Words fifth = bits_of(times(four, repeat_int(0x02040810)), 0x10);
    return join(L < 4 ? low_nibbles(bytes) : high_nibbles(bytes), fifth);
  }
};

}  // namespace
}  // namespace assay
