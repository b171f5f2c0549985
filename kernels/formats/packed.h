/* Packed layouts: sixteen rows of blocks interleaved, so that a lane of a 64-byte register is a row. Nothing is added:
   a packed block is sixteen plain blocks of the same block column, byte for byte, in another order.

   A matrix of n rows and B blocks a row becomes [ceil(n/16), B] packed blocks, contiguous. Packed block (t, b) holds
   block b of rows 16 t .. 16 t + 15; "row r" below is r = 0..15 within it. Rows past n are all zero bytes.
   A *line* is 64 bytes: sixteen words of 4 bytes, word r (bytes 4 r .. 4 r + 3) from row r. Line l of a byte array takes
   the array's bytes 4 l .. 4 l + 3 of each row, in their order. f16 fields lie together: row r's at 2 r, little endian.

   In NumPy: lines = rows.reshape(16, -1, 4).transpose(1, 0, 2), rows = lines.transpose(1, 0, 2).reshape(16, -1).

   C11 and C++20. */
#pragma once

#include <stddef.h>

#include "kernels/formats/blocks.h"

ASSAY_C_BEGIN

enum { ASSAY_PACKED_ROWS = 16, ASSAY_TILE_ROWS = 32 }; /* rows that lie interleaved: of blocks, of tile-major numbers */

/* bytes          field              from plain block of row r
      0 ..   31   d[r]               bytes 0..1     (d)
     32 ..   63   dmin[r]            bytes 2..3     (dmin)
     64 ..  255   scales[l][r][j]    byte   4 + 4 l + j,  l = 0..2     at 64 + 64 l + 4 r + j
    256 .. 2303   qs[l][r][j]        byte  16 + 4 l + j,  l = 0..31    at 256 + 64 l + 4 r + j
   Line l = 8 c + i of qs: elements 64 c + 4 i + j in the low nibbles, 64 c + 32 + 4 i + j in the high ones. */
typedef struct BlockQ4_Kx16 {
  uint16_t d[16];
  uint16_t dmin[16];
  uint8_t scales[3][16][4];
  uint8_t qs[32][16][4];
} BlockQ4_Kx16;
ASSAY_STATIC_ASSERT(sizeof(BlockQ4_Kx16) == 2304 && sizeof(BlockQ4_Kx16) == 16 * sizeof(BlockQ4_K), "q4_k_x16");
ASSAY_STATIC_ASSERT(offsetof(BlockQ4_Kx16, dmin) == 32, "q4_k_x16: dmin");
ASSAY_STATIC_ASSERT(offsetof(BlockQ4_Kx16, scales) == 64, "q4_k_x16: scales");
ASSAY_STATIC_ASSERT(offsetof(BlockQ4_Kx16, qs) == 256, "q4_k_x16: qs");

/* bytes          field                from plain block of row r
      0 ..   31   d[r]                 bytes 208..209 (d)
     32 ..  287   scales[l][r][j]      byte 192 + 4 l + j,           l = 0..3     at 32 + 64 l + 4 r + j
    288 .. 3359   triples[t]           t = 8 h + i, h = 0..1, i = 0..7            at 288 + 192 t, in it
                  .ql[0][r][j]         byte       64 h + 4 i + j                  +       4 r + j
                  .ql[1][r][j]         byte  32 + 64 h + 4 i + j                  +  64 + 4 r + j
                  .qh[r][j]            byte 128 + 32 h + 4 i + j                  + 128 + 4 r + j
   Triple 8 h + i holds elements 128 h + 4 i + j (+0, +32, +64, +96): ql[0] low, ql[1] low, ql[0] high, ql[1] high, with bits 0-1,
   2-3, 4-5, 6-7 of qh above them. So a dot reads the block in ascending order: by the plain order's three streams the hardware
   prefetch of Zen 4 is lost (a quarter of the bandwidth). */
typedef struct TripleQ6_Kx16 {
  uint8_t ql[2][16][4];
  uint8_t qh[16][4];
} TripleQ6_Kx16;
typedef struct BlockQ6_Kx16 {
  uint16_t d[16];
  int8_t scales[4][16][4];
  TripleQ6_Kx16 triples[16];
} BlockQ6_Kx16;
ASSAY_STATIC_ASSERT(sizeof(BlockQ6_Kx16) == 3360 && sizeof(BlockQ6_Kx16) == 16 * sizeof(BlockQ6_K), "q6_k_x16");
ASSAY_STATIC_ASSERT(offsetof(BlockQ6_Kx16, scales) == 32, "q6_k_x16: scales");
ASSAY_STATIC_ASSERT(offsetof(BlockQ6_Kx16, triples) == 288 && sizeof(TripleQ6_Kx16) == 192, "q6_k_x16: triples");

/* bytes          field              from plain block of row r
      0 ..   31   d[r]               bytes 0..1     (d)
     32 ..  543   qs[l][r][j]        byte    2 + 4 l + j,  l = 0..7    at 32 + 64 l + 4 r + j (element 4 l + j) */
typedef struct BlockQ8_0x16 {
  uint16_t d[16];
  int8_t qs[8][16][4];
} BlockQ8_0x16;
ASSAY_STATIC_ASSERT(sizeof(BlockQ8_0x16) == 544 && sizeof(BlockQ8_0x16) == 16 * sizeof(BlockQ8_0), "q8_0_x16");
ASSAY_STATIC_ASSERT(offsetof(BlockQ8_0x16, qs) == 32, "q8_0_x16: qs");

ASSAY_C_END
