/* Sixteen plain blocks to a tile and back. A tile is what the dots read: a packed block (kernels/formats/packed.h), or for
   formats that have no packed layout one of the same make that lives on the stack only. After lines_<isa>.h.

   gather(rows, tile)    rows[r] is the block of row r
   scatter(tile, rows)   the inverse */
#pragma once

#include "kernels/formats/packed.h"

namespace assay {
namespace {

inline constexpr int kPackedRows = ASSAY_PACKED_ROWS;

struct TileQ5K {
  uint16_t d[16];
  uint16_t dmin[16];
  uint8_t scales[3][16][4];
  uint8_t qh[8][16][4];
  uint8_t qs[32][16][4];
};
struct TileQ40 {
  uint16_t d[16];
  uint8_t qs[4][16][4];
};
struct TileQ50 {
  uint16_t d[16];
  uint8_t qh[1][16][4];
  uint8_t qs[4][16][4];
};

template <class Block>
struct RowBytes {
  const uint8_t* at[kPackedRows];
  ASSAY_INLINE RowBytes(const Block* const* rows, size_t offset) {
    for (int r = 0; r < kPackedRows; ++r) at[r] = reinterpret_cast<const uint8_t*>(rows[r]) + offset;
  }
};

// The head of q4_k and q5_k, 16 bytes a row: d and dmin are a word, the scales three.
template <class Block, class Tile>
ASSAY_INLINE void gather_head(const Block* const* rows, Tile& tile) {
  alignas(64) uint8_t head[4][16][4];
  rows_to_lines<4>(RowBytes<Block>(rows, 0).at, head);
  for (int r = 0; r < kPackedRows; ++r) {
    memcpy(&tile.d[r], head[0][r], 2);
    memcpy(&tile.dmin[r], head[0][r] + 2, 2);
  }
  memcpy(tile.scales, head[1], sizeof tile.scales);
}
template <class Block, class Tile>
ASSAY_INLINE void gather_d(const Block* const* rows, Tile& tile) {
  for (int r = 0; r < kPackedRows; ++r) tile.d[r] = rows[r]->d;
}

ASSAY_INLINE void gather(const BlockQ4_K* const* rows, BlockQ4_Kx16& tile) {
  gather_head(rows, tile);
  rows_to_lines<32>(RowBytes<BlockQ4_K>(rows, offsetof(BlockQ4_K, qs)).at, tile.qs);
}
ASSAY_INLINE void gather(const BlockQ5_K* const* rows, TileQ5K& tile) {
  gather_head(rows, tile);
  rows_to_lines<8>(RowBytes<BlockQ5_K>(rows, offsetof(BlockQ5_K, qh)).at, tile.qh);
  rows_to_lines<32>(RowBytes<BlockQ5_K>(rows, offsetof(BlockQ5_K, qs)).at, tile.qs);
}
ASSAY_INLINE void gather(const BlockQ6_K* const* rows, BlockQ6_Kx16& tile) {
  gather_d(rows, tile);
  rows_to_lines<4>(RowBytes<BlockQ6_K>(rows, offsetof(BlockQ6_K, scales)).at, reinterpret_cast<uint8_t(*)[16][4]>(tile.scales));
  for (int h = 0; h < 2; ++h) {
    TripleQ6_Kx16* triples = tile.triples + 8 * h;
    rows_to_lines<8, 3>(RowBytes<BlockQ6_K>(rows, offsetof(BlockQ6_K, ql) + 64 * h).at, &triples->ql[0]);
    rows_to_lines<8, 3>(RowBytes<BlockQ6_K>(rows, offsetof(BlockQ6_K, ql) + 64 * h + 32).at, &triples->ql[1]);
    rows_to_lines<8, 3>(RowBytes<BlockQ6_K>(rows, offsetof(BlockQ6_K, qh) + 32 * h).at, &triples->qh);
  }
}
ASSAY_INLINE void gather(const BlockQ8_0* const* rows, BlockQ8_0x16& tile) {
  gather_d(rows, tile);
  rows_to_lines<8>(RowBytes<BlockQ8_0>(rows, offsetof(BlockQ8_0, qs)).at, reinterpret_cast<uint8_t(*)[16][4]>(tile.qs));
}
ASSAY_INLINE void gather(const BlockQ4_0* const* rows, TileQ40& tile) {
  gather_d(rows, tile);
  rows_to_lines<4>(RowBytes<BlockQ4_0>(rows, offsetof(BlockQ4_0, qs)).at, tile.qs);
}
ASSAY_INLINE void gather(const BlockQ5_0* const* rows, TileQ50& tile) {
  gather_d(rows, tile);
  rows_to_lines<1>(RowBytes<BlockQ5_0>(rows, offsetof(BlockQ5_0, qh)).at, tile.qh);
  rows_to_lines<4>(RowBytes<BlockQ5_0>(rows, offsetof(BlockQ5_0, qs)).at, tile.qs);
}

template <class Block>
struct MutableRowBytes {
  uint8_t* at[kPackedRows];
  ASSAY_INLINE MutableRowBytes(Block* const* rows, size_t offset) {
    for (int r = 0; r < kPackedRows; ++r) at[r] = reinterpret_cast<uint8_t*>(rows[r]) + offset;
  }
};

ASSAY_INLINE void scatter(const BlockQ4_Kx16& tile, BlockQ4_K* const* rows) {
  for (int r = 0; r < kPackedRows; ++r) {
    rows[r]->d = tile.d[r];
    rows[r]->dmin = tile.dmin[r];
    for (int l = 0; l < 3; ++l) memcpy(rows[r]->scales + 4 * l, tile.scales[l][r], 4);
  }
  lines_to_rows<32>(tile.qs, MutableRowBytes<BlockQ4_K>(rows, offsetof(BlockQ4_K, qs)).at);
}
ASSAY_INLINE void scatter(const BlockQ6_Kx16& tile, BlockQ6_K* const* rows) {
  for (int r = 0; r < kPackedRows; ++r) rows[r]->d = tile.d[r];
  lines_to_rows<4>(reinterpret_cast<const uint8_t(*)[16][4]>(tile.scales),
                   MutableRowBytes<BlockQ6_K>(rows, offsetof(BlockQ6_K, scales)).at);
  for (int h = 0; h < 2; ++h) {
    const TripleQ6_Kx16* triples = tile.triples + 8 * h;
    lines_to_rows<8, 3>(&triples->ql[0], MutableRowBytes<BlockQ6_K>(rows, offsetof(BlockQ6_K, ql) + 64 * h).at);
    lines_to_rows<8, 3>(&triples->ql[1], MutableRowBytes<BlockQ6_K>(rows, offsetof(BlockQ6_K, ql) + 64 * h + 32).at);
    lines_to_rows<8, 3>(&triples->qh, MutableRowBytes<BlockQ6_K>(rows, offsetof(BlockQ6_K, qh) + 32 * h).at);
  }
}
ASSAY_INLINE void scatter(const BlockQ8_0x16& tile, BlockQ8_0* const* rows) {
  for (int r = 0; r < kPackedRows; ++r) rows[r]->d = tile.d[r];
  lines_to_rows<8>(reinterpret_cast<const uint8_t(*)[16][4]>(tile.qs),
                   MutableRowBytes<BlockQ8_0>(rows, offsetof(BlockQ8_0, qs)).at);
}

}  // namespace
}  // namespace assay
