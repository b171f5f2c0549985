/* gemm over blocks by AMX's tiles. After an ISA's header, whose gemv stays, and its TileRegisters: eight tiles and what may be done with them,
   dot_signed<Sum, A, B>() and dot_unsigned<Sum, A, B>() with B's bytes taken with sign or without; A's have one.

   A dot of tiles is sixteen rows of activations, as they lie, by code lines of sixteen rows of weights: sum (r, lane) grows by four
   activations of row r times four codes of the lane's row, for each line. It takes 64 columns at once, of a block of 32 these.

   Integers of a super-block leave the tiles once, scales and all. Opened weights are the bytes of sc q, where q is the code less what it
   is too large by and |sc q| < 2^15: the low byte without sign, the high byte with it. I1 = sum(low x) + 2^8 sum(high x), both exact in
   32 bits. Two tiles of rows by the two of bytes take all eight: four sums, two of rows, two of weights. */
#pragma once

#include "kernels/products/block_gemm.h"
#include "kernels/products/tile_config.h"

namespace assay {
namespace {

constexpr int kSets = 2;  // of sixteen rows of activations at once
constexpr int kRowsAtOnce = kSets * kRowsOfTile;

constexpr int sum_tile(int set, int part) {
  return kSets * set + part;
}
constexpr int row_tile(int set) {
  return 4 + set;
}
constexpr int weight_tile(int part) {
  return 6 + part;
}

// What a step takes of an activation block: its scale, and where weights have minima the sums of its codes.
template <class Weights, bool Minima>
struct SideOfTiles : Weights::Side {};
template <class Weights>
struct SideOfTiles<Weights, false> {
  float d;
  ASSAY_INLINE void take(const BlockQ8_0& x) { d = half_value(x.d); }
  ASSAY_INLINE void take(const BlockQ8_K& x) { d = x.d; }
};

// A format of dot_formats.h whose gemm is by tiles.
template <class Weights>
struct Tiled : Weights {
  using Weights::Weights;
  static constexpr bool kScaled = Weights::kElements == ASSAY_QK_K;  // weights are opened with their scales
  static constexpr int kParts = kScaled ? 2 : 1;                     // bytes of such a weight
  static constexpr int kColumns = kScaled ? 64 : 32;                 // of a dot of tiles
  static constexpr bool kMinima = kScaled && Weights::kOffset == 0;
  using Side = SideOfTiles<Weights, kMinima>;
};

template <class Weights>
struct Opened<Tiled<Weights>, ASSAY_QK_K> {
  Words lines[2][ASSAY_QK_K / 4];
  Words minima[Weights::kGroups / 2];
  float row_d[kPackedRows];
  float row_dmin[kPackedRows];

  ASSAY_INLINE void open(const Tiled<Weights>& format) {
    for_each_index<Weights::kGroups>([&](auto group) ASSAY_LAMBDA_INLINE {
      constexpr int G = decltype(group)::value;
      const Words scale = pick_bytes(format.template scale<G>(), 0x01000100u);  // in both 16-bit halves
      for_each_index<Weights::kGroupLines>([&](auto line) ASSAY_LAMBDA_INLINE {
        constexpr int I = decltype(line)::value;
        const Words codes = format.template codes<G, I>();
        put(G * Weights::kGroupLines + I, mul_pairs(pairs_of<0>(codes), scale), mul_pairs(pairs_of<1>(codes), scale));
      });
    });
    store(row_d, format.d());
    if constexpr (Tiled<Weights>::kMinima) {
      for_each_index<Weights::kGroups / 2>([&](auto pair) ASSAY_LAMBDA_INLINE {
        constexpr int P = decltype(pair)::value;
        minima[P] = format.template pairs<P>();
      });
      store(row_dmin, format.dmin());
    }
  }

  // Two of a line's codes less their offset in 16-bit halves.
  template <int Pair>
  ASSAY_INLINE static Words pairs_of(Words codes) {
    if constexpr (Weights::kOffset == 0) return unsigned_pairs<Pair>(codes);
    return signed_pairs<Pair>(sub_bytes(codes, Weights::kOffset));
  }
  // The first two and the last two weights of a line, byte by byte.
  ASSAY_INLINE void put(int line, Words first, Words last) {
    lines[0][line] = join(pick_bytes(first, 0x80800200u), pick_bytes(last, 0x02008080u));
    lines[1][line] = join(pick_bytes(first, 0x80800301u), pick_bytes(last, 0x03018080u));
  }

  ASSAY_INLINE Words pairs(int p) const { return load_words(&minima[p]); }
  ASSAY_INLINE F32x16 d() const { return load(row_d); }
  ASSAY_INLINE F32x16 dmin() const { return load(row_dmin); }
};

template <class Weights>
struct Opened<Tiled<Weights>, ASSAY_QK> {
  Words lines[1][ASSAY_QK / 4];
  float row_d[kPackedRows];

  ASSAY_INLINE void open(const Tiled<Weights>& format) {
    for_each_index<ASSAY_QK / 4>([&](auto line) ASSAY_LAMBDA_INLINE {
      constexpr int L = decltype(line)::value;
      lines[0][L] = sub_bytes(format.template codes<L>(), Weights::kOffset);
    });
    store(row_d, format.d());
  }
  ASSAY_INLINE F32x16 d() const { return load(row_d); }
};

// The tiles of a call, configured for the rows that are multiplied; released when it goes.
template <class Format>
class CallTiles {
 public:
  CallTiles() = default;
  CallTiles(const CallTiles&) = delete;
  CallTiles& operator=(const CallTiles&) = delete;
  ~CallTiles() { registers_.release(); }

  TileRegisters& of_rows(int64_t rows) {
    if (rows != rows_) configure(rows);
    return registers_;
  }

 private:
  void configure(int64_t rows) {
    TileConfig config = {};
    config.palette = 1;
    const auto shape = [&config](int tile, int64_t count, int bytes) {
      config.rows[tile] = static_cast<uint8_t>(count);
      config.row_bytes[tile] = static_cast<uint16_t>(count == 0 ? 0 : bytes);
    };
    for (int set = 0; set < kSets; ++set) {
      const int64_t present = at_least(at_most(rows - set * kRowsOfTile, kRowsOfTile), 0);
      shape(row_tile(set), present, Format::kColumns);
      for (int part = 0; part < Format::kParts; ++part) shape(sum_tile(set, part), present, kBytesOfTile);
    }
    for (int part = 0; part < Format::kParts; ++part) shape(weight_tile(part), Format::kColumns / 4, kBytesOfTile);
    registers_.configure(config);
    rows_ = rows;
  }

  TileRegisters registers_;
  int64_t rows_ = 0;
};

// Of a block: sum(x times byte `part` of the weights), by row of activations and lane.
struct TileSums {
  alignas(64) int32_t at[2][kRowsAtOnce][kPackedRows];
};

// A block of sixteen rows of weights by `Sets` sixteens of activations, whose rows are x_bytes apart.
template <int Sets, class Format>
ASSAY_INLINE void multiply(TileRegisters& tiles, const Opened<Format>& weights, const int8_t* x, int64_t x_bytes,
                           TileSums& sums) {
  constexpr int kLines = Format::kColumns / 4;
  const auto for_each_sum_tile = [](auto f) ASSAY_LAMBDA_INLINE {
    for_each_index<Sets>([&](auto set) ASSAY_LAMBDA_INLINE {
      for_each_index<Format::kParts>([&](auto part) ASSAY_LAMBDA_INLINE { f(set, part); });
    });
  };
  for_each_sum_tile([&](auto set, auto part) ASSAY_LAMBDA_INLINE { tiles.template zero<sum_tile(set.value, part.value)>(); });
  for (int step = 0; step < Format::kElements / Format::kColumns; ++step) {
    for_each_index<Format::kParts>([&](auto part) ASSAY_LAMBDA_INLINE {
      tiles.template load<weight_tile(part.value)>(&weights.lines[part.value][step * kLines], sizeof(Words));
    });
    for_each_index<Sets>([&](auto set) ASSAY_LAMBDA_INLINE {
      tiles.template load<row_tile(set.value)>(x + set.value * kRowsOfTile * x_bytes + step * Format::kColumns, x_bytes);
    });
    for_each_sum_tile([&](auto set, auto part) ASSAY_LAMBDA_INLINE {
      constexpr int kSum = sum_tile(set.value, part.value), kRows = row_tile(set.value), kWeights = weight_tile(part.value);
      if constexpr (part.value + 1 == Format::kParts) {
        tiles.template dot_signed<kSum, kRows, kWeights>();
      } else {
        tiles.template dot_unsigned<kSum, kRows, kWeights>();
      }
    });
  }
  for_each_sum_tile([&](auto set, auto part) ASSAY_LAMBDA_INLINE {
    tiles.template store<sum_tile(set.value, part.value)>(sums.at[part.value][set.value * kRowsOfTile], sizeof sums.at[0][0]);
  });
}

// I1 of row r of the sums, as f32.
template <class Format>
ASSAY_INLINE F32x16 first_integers(const TileSums& sums, int64_t r) {
  const Words low = load_words(sums.at[0][r]);
  if constexpr (!Format::kScaled) {
    return to_f32(low);
  } else {
    return to_f32(shift_right_signed<Format::kExcess>(add(low, shift_left<8>(load_words(sums.at[1][r])))));
  }
}

// The canonical step of that row.
template <class Format>
ASSAY_INLINE F32x16 add_sums(const Opened<Format>& weights, const typename Format::Side& side, const TileSums& sums, int64_t r,
                             F32x16 acc) {
  acc = add_first(weights, side, first_integers<Format>(sums, r), acc);
  if constexpr (Format::kMinima) {
    const Opened<Format>* const one[1] = {&weights};
    const typename Format::Side* const row[1] = {&side};
    Words i2[1][1];
    add_pairs<Format>(one, row, i2);
    acc = add_second(weights, side, i2[0][0], acc);
  }
  return acc;
}

// Rows row .. row + rows - 1 of the panel by one tile's opened blocks; y is the outputs of the first of them.
template <class Format>
__attribute__((noinline)) void add_rows(CallTiles<Format>& tiles, const Opened<Format>* weights, const Panel<Format>& panel,
                                        int64_t row, int64_t rows, float* y, int64_t y_stride, int64_t columns) noexcept {
  TileRegisters& registers = tiles.of_rows(rows);
  const int64_t x_bytes = panel.x_stride * static_cast<int64_t>(sizeof(typename Format::Activation));
  F32x16 acc[kRowsAtOnce];
  for (int64_t r = 0; r < rows; ++r) acc[r] = panel.first_block == 0 ? broadcast(0.0f) : load_rows(y + r * y_stride, columns);
  for (int b = 0; b < panel.blocks; ++b) {
    TileSums sums;
    const int8_t* const x = panel.row(row)[b].qs;
    if (rows > kRowsOfTile) {
      multiply<2, Format>(registers, weights[b], x, x_bytes, sums);
    } else {
      multiply<1, Format>(registers, weights[b], x, x_bytes, sums);
    }
    for (int64_t r = 0; r < rows; ++r) acc[r] = add_sums<Format>(weights[b], panel.sides[row + r][b], sums, r, acc[r]);
  }
  for (int64_t r = 0; r < rows; ++r) store_rows(y + r * y_stride, acc[r], columns);
}

// What multiply_blocks finds in the place of block_gemm.h's for such a format.
template <int, class Weights, class W>
inline void add_tiles(const Source<Tiled<Weights>, W>& source, const Panel<Tiled<Weights>>& panel, int64_t n0, int64_t n,
                      float* y, int64_t y_stride) {
  using Format = Tiled<Weights>;
  alignas(64) Opened<Format> weights[kChunk<Format>];
  CallTiles<Format> tiles;
  for (; n0 < n; n0 += kPackedRows) {
    const int64_t tile = n0 / kPackedRows;
    source.open(tile, panel.first_block, panel.blocks, weights);
    for (int64_t row = 0; row < panel.rows; row += kRowsAtOnce) {
      prefetch_tiles<1, kRowsAtOnce>(source, tile + 1, panel, row);
      add_rows(tiles, weights, panel, row, at_most(kRowsAtOnce, panel.rows - row), y + row * y_stride + n0, y_stride, n - n0);
    }
  }
}

// Chosen before block_gemm.h's, since it is constrained.
template <class W, class X>
  requires requires { typename FormatOf<W>::Tile; }
inline AssayStatus gemm(const Typed<W, X>& args) {
  using Format = Tiled<FormatOf<W>>;
  if (args.k % Format::kElements != 0) return ASSAY_BAD_SHAPE;
  multiply_blocks(source_of<Format>(args.w, args.n, args.k), args.x, args.y, args.m, args.n, args.x_stride, args.y_stride);
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
