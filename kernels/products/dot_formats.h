/* How the lines of a tile become codes, scales and minima. After an ISA's lanes and dots.

   Side: what a step takes of an activation block besides its codes; take(x) works it out, once for every tile.
   A format's code lines hold elements 4 l .. 4 l + 3 of each row, one a byte; a lane is a row. d() is the rows' scale.
   Super-blocks (K): codes<G, I>() is line I of group G (the elements that share a scale), scale<G>() that scale, pairs<P>() the
   minima of groups 2 P and 2 P + 1, for q6_k the scales; sums of scale times dot are 2^kExcess too large. kTogether groups
   share the bytes they are made of: member P of run N is group_of(N, P). kMaxScaled bounds a group's scale times dot.
   Blocks of 32: codes<L>() is line L. Codes are kOffset too large. */
#pragma once

#include "kernels/formats/half.h"
#include "kernels/packings/tiles.h"
#include "kernels/products/typed.h"
#include "kernels/products/unroll.h"

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
  static constexpr int kOffset = 0;
  static constexpr bool kStarts = false;
  static constexpr bool kInF32 = false;
  static constexpr int group_of(int run, int member) { return 2 * run + member; }

  struct Side {
    float d;
    int16_t sums[kGroups];  // of a group's codes
    ASSAY_INLINE void take(const Activation& x) {
      d = x.d;
      for (int g = 0; g < kGroups; ++g) sums[g] = static_cast<int16_t>(x.bsums[2 * g] + x.bsums[2 * g + 1]);
    }
  };

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
  template <int P>
  ASSAY_INLINE Words pairs() const {
    const Words w1 = load_words(tile.scales[1][0]);
    if constexpr (P < 2) return unsigned_pairs<P>(bits_of(w1, 63));
    const Words w2 = load_words(tile.scales[2][0]);
    return unsigned_pairs<P % 2>(join(high_nibbles(w2), bits_of(shift_right<2>(w1), 0x30)));
  }
  ASSAY_INLINE F32x16 d() const { return widen_f16(tile.d); }
  ASSAY_INLINE F32x16 dmin() const { return widen_f16(tile.dmin); }
};

struct Q4K : ScalesAndMinima<BlockQ4_Kx16> {
  using Block = BlockQ4_K;
  static constexpr int kMaxCode = 15;
  static constexpr int kMaxScaled = 32 * 15 * 127 * 63;
  static constexpr int kExcess = kHighNibbles;
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
};

struct Q5K : ScalesAndMinima<TileQ5K> {
  using Block = BlockQ5_K;
  static constexpr int kMaxCode = 31;
  static constexpr int kMaxScaled = 32 * 31 * 127 * 63;
  static constexpr int kExcess = 0;
  using ScalesAndMinima::ScalesAndMinima;

  template <int G, int I>
  ASSAY_INLINE Words codes() const {
    const Words bytes = load_words(tile.qs[G / 2 * 8 + I][0]);
    const Words fifth = shifted<4 - G>(load_words(tile.qh[I][0]));
    return join_bits(G % 2 == 0 ? low_nibbles(bytes) : high_nibbles(bytes), fifth, 0x10);
  }
};

// Codes of q6_k are 32 too large. Where a dot may start at any integer, it starts at -32 times the sum of the activations' codes;
// elsewhere the excess is taken off the total.
template <bool Starts>
struct SideQ6K {
  float d;
  int16_t sums[16];
  ASSAY_INLINE void take(const BlockQ8_K& x) {
    d = x.d;
    memcpy(sums, x.bsums, sizeof sums);
  }
};
template <>
struct SideQ6K<true> {
  float d;
  int32_t starts[16];
  ASSAY_INLINE void take(const BlockQ8_K& x) {
    d = x.d;
    for (int g = 0; g < 16; ++g) starts[g] = -32 * x.bsums[g];
  }
};

// Sixteen groups of 16. Group G = 8 h + 2 q + s: half h of 128 elements, quarter q, elements 16 s .. 16 s + 15 of it.
struct Q6K {
  using Block = BlockQ6_K;
  using Tile = BlockQ6_Kx16;
  using Activation = BlockQ8_K;
  static constexpr int kElements = ASSAY_QK_K;
  static constexpr int kMaxCode = 63;
  static constexpr int kMaxScaled = 16 * 32 * 127 * 128;
  static constexpr int kExcess = 0;
  static constexpr int kGroups = 16;
  static constexpr int kGroupLines = 4;
  static constexpr int kTogether = 4;
  static constexpr int kOffset = 32;
  static constexpr bool kStarts = kDotsStart;
  static constexpr bool kInF32 = false;
  static constexpr int group_of(int run, int member) { return run / 2 * 8 + 2 * member + run % 2; }

  using Side = SideQ6K<kStarts>;

  const Tile& tile;
  Words scales[4];
  ASSAY_INLINE explicit Q6K(const Tile& t) : tile(t) {
    for (int l = 0; l < 4; ++l) scales[l] = load_words(tile.scales[l][0]);
  }

  template <int G, int I>
  ASSAY_INLINE Words codes() const {
    constexpr int h = G / 8, q = G % 8 / 2, s = G % 2;
    const TripleQ6_Kx16& triple = tile.triples[8 * h + 4 * s + I];
    const Words low = load_words(triple.ql[q % 2][0]);
    const Words high = load_words(triple.qh[0]);
    return join_bits(q < 2 ? low_nibbles(low) : high_nibbles(low), shifted<4 - 2 * q>(high), 0x30);
  }
  template <int G>
  ASSAY_INLINE Scale scale() const {
    return signed_scale<G % 4>(scales[G / 4]);
  }

  template <int P>
  ASSAY_INLINE Words pairs() const {
    return signed_pairs<P % 2>(scales[P / 2]);
  }
  ASSAY_INLINE F32x16 d() const { return widen_f16(tile.d); }
};

template <class TileType, int Offset>
struct Blocks32 {
  using Tile = TileType;
  using Activation = BlockQ8_0;
  static constexpr int kElements = ASSAY_QK;
  static constexpr int kOffset = Offset;

  struct Side {
    float d;
    int32_t offset;  // what the codes' excess adds to a sum, negated
    ASSAY_INLINE void take(const Activation& x) {
      d = half_value(x.d);
      offset = kOffset == 0 ? 0 : -kOffset * code_sum(x.qs);
    }
  };

  const Tile& tile;
  ASSAY_INLINE explicit Blocks32(const Tile& t) : tile(t) {}
  ASSAY_INLINE F32x16 d() const { return widen_f16(tile.d); }
};

struct Q80 : Blocks32<BlockQ8_0x16, kSignedOffset> {
  using Block = BlockQ8_0;
  static constexpr bool kSigned = true;
  static constexpr int kMaxCode = 127;
  using Blocks32::Blocks32;

  template <int L>
  ASSAY_INLINE Words codes() const {
    return signed_codes(load_words(tile.qs[L][0]));
  }
};

struct Q40 : Blocks32<TileQ40, 8> {
  using Block = BlockQ4_0;
  static constexpr bool kSigned = false;
  static constexpr int kMaxCode = 15;
  using Blocks32::Blocks32;

  template <int L>
  ASSAY_INLINE Words codes() const {
    const Words bytes = load_words(tile.qs[L % 4][0]);
    return L < 4 ? low_nibbles(bytes) : high_nibbles(bytes);
  }
};

struct Q50 : Blocks32<TileQ50, 16> {
  using Block = BlockQ5_0;
  static constexpr bool kSigned = false;
  static constexpr int kMaxCode = 31;
  using Blocks32::Blocks32;

  // Bits 4 L .. 4 L + 3 of qh are multiplied to four places 7 apart: bit i then stands at bit 4 of byte i.
  template <int L>
  ASSAY_INLINE Words codes() const {
    const Words bytes = load_words(tile.qs[L % 4][0]);
    const Words four = shift_right<28>(shift_left<28 - 4 * L>(load_words(tile.qh[0][0])));
    const Words fifth = mul(four, repeat_int(0x02040810));
    return join_bits(L < 4 ? low_nibbles(bytes) : high_nibbles(bytes), fifth, 0x10);
  }
};

// The format of weights that lie plain or packed.
Q40 format_of(const BlockQ4_0*);
Q50 format_of(const BlockQ5_0*);
Q80 format_of(const BlockQ8_0*);
Q4K format_of(const BlockQ4_K*);
Q5K format_of(const BlockQ5_K*);
Q6K format_of(const BlockQ6_K*);
Q80 format_of(const Packed<BlockQ8_0x16>*);
Q4K format_of(const Packed<BlockQ4_Kx16>*);
Q6K format_of(const Packed<BlockQ6_Kx16>*);
template <class Weights>
using FormatOf = decltype(format_of(static_cast<const Weights*>(nullptr)));

}  // namespace
}  // namespace assay
