/* The configuration of AMX's eight tiles, as LDTILECFG reads it. */
#pragma once

#include <stdint.h>

namespace assay {
namespace {

inline constexpr int kTiles = 8;
inline constexpr int kRowsOfTile = 16;   // at most
inline constexpr int kBytesOfTile = 64;  // of a row, at most

struct alignas(64) TileConfig {
  uint8_t palette;  // 1; 0 releases the tiles
  uint8_t start_row;
  uint8_t reserved[14];
  uint16_t row_bytes[16];  // those past kTiles are reserved, here and below; of a tile that is not used both are 0
  uint8_t rows[16];
};
static_assert(sizeof(TileConfig) == 64);

}  // namespace
}  // namespace assay
