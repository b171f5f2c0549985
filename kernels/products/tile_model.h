/* AMX's tiles in software, for CPUs that have none: palette 1 and the dots of bytes. What the CPU would answer with an exception ends
   the call (kernels/abi.h, ASSAY_FAULT_MARK), and so do tiles that are still configured when it returns.

   Source: Intel's SDM, volume 2, LDTILECFG, TILELOADD, TILESTORED, TILEZERO and TDPBSSD, TDPBSUD, TDPBUSD, TDPBUUD. */
#pragma once

#include <string.h>

#include "kernels/abi.h"
#include "kernels/products/tile_config.h"
#include "kernels/simd/base.h"

namespace assay {
namespace {

[[noreturn]] ASSAY_INLINE void tile_fault(const char* why) {
  asm volatile("ud2" : : "S"(ASSAY_FAULT_MARK), "D"(why));
  __builtin_unreachable();
}

class TileModel {
 public:
  TileModel() = default;
  TileModel(const TileModel&) = delete;
  TileModel& operator=(const TileModel&) = delete;
  ~TileModel() {
    if (configured()) tile_fault("left the tiles configured (no TILERELEASE)");
  }

  void configure(const TileConfig& config) {
    if (config.palette == 0) return release();
    if (config.palette != 1) tile_fault("LDTILECFG: a palette that there is not (#GP)");
    // The CPU takes a row to resume an interrupted load at, which no kernel has.
    if (config.start_row != 0) tile_fault("LDTILECFG: a start row");
    if (!is_zero(config.reserved, sizeof config.reserved) || !is_zero(config.row_bytes + kTiles, kTiles * sizeof(uint16_t)) ||
        !is_zero(config.rows + kTiles, kTiles)) {
      tile_fault("LDTILECFG: a reserved byte that is not zero (#GP)");
    }
    for (int t = 0; t < kTiles; ++t) {
      if (config.rows[t] > kRowsOfTile) tile_fault("LDTILECFG: a tile of more than 16 rows (#GP)");
      if (config.row_bytes[t] > kBytesOfTile) tile_fault("LDTILECFG: a tile whose rows have more than 64 bytes (#GP)");
      if ((config.rows[t] == 0) != (config.row_bytes[t] == 0)) tile_fault("LDTILECFG: a tile with rows or bytes alone (#GP)");
    }
    config_ = config;
    memset(tiles_, 0, sizeof tiles_);
  }
  void release() {
    config_ = {};
    memset(tiles_, 0, sizeof tiles_);
  }

  void zero(int tile) {
    require(tile);
    memset(tiles_[tile], 0, sizeof tiles_[tile]);
  }
  void load(int tile, const void* rows, int64_t stride) {
    zero(tile);
    for (int r = 0; r < config_.rows[tile]; ++r) {
      memcpy(tiles_[tile][r], static_cast<const char*>(rows) + r * stride, config_.row_bytes[tile]);
    }
  }
  void store(int tile, void* rows, int64_t stride) const {
    require(tile);
    for (int r = 0; r < config_.rows[tile]; ++r) {
      memcpy(static_cast<char*>(rows) + r * stride, tiles_[tile][r], config_.row_bytes[tile]);
    }
  }

  // sum[m][n] += the products of bytes 4 k .. 4 k + 3 of a[m] with bytes 4 n .. 4 n + 3 of b[k], over k, modulo 2^32; the bytes are A's and
  // B's: int8_t or uint8_t.
  template <class A, class B>
  void dot(int sum, int a, int b) {
    require(sum);
    require(a);
    require(b);
    if (sum == a || sum == b || a == b) tile_fault("TDP: one tile twice (#UD)");
    const int rows = config_.rows[sum];
    const int lanes = config_.row_bytes[sum] / 4;
    const int steps = config_.row_bytes[a] / 4;
    if (config_.row_bytes[sum] % 4 != 0 || config_.row_bytes[a] % 4 != 0) tile_fault("TDP: rows of a part of four bytes (#UD)");
    if (config_.rows[a] != rows || config_.row_bytes[b] != 4 * lanes || config_.rows[b] != steps) {
      tile_fault("TDP: tiles that do not fit each other (#UD)");
    }
    uint32_t sums[kRowsOfTile][kBytesOfTile / 4] = {};  // what it writes: past the tile's rows and their bytes zeros
    for (int m = 0; m < rows; ++m) {
      memcpy(sums[m], tiles_[sum][m], 4 * static_cast<size_t>(lanes));
      for (int k = 0; k < steps; ++k) {
        const A* const left = reinterpret_cast<const A*>(tiles_[a][m]) + 4 * k;
        const B* const right = reinterpret_cast<const B*>(tiles_[b][k]);
        for (int n = 0; n < lanes; ++n) {
          int32_t four = 0;  // of magnitude below 2^18
          for (int i = 0; i < 4; ++i) four += left[i] * right[4 * n + i];
          sums[m][n] += static_cast<uint32_t>(four);
        }
      }
    }
    memcpy(tiles_[sum], sums, sizeof sums);
  }

  // What XSAVE would show: whether tiles are configured, and what is in the 64 bytes of a row.
  bool configured() const { return config_.palette != 0; }
  const uint8_t* row(int tile, int r) const { return tiles_[tile][r]; }

 private:
  static bool is_zero(const void* bytes, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (static_cast<const uint8_t*>(bytes)[i] != 0) return false;
    }
    return true;
  }
  void require(int tile) const {
    if (!configured()) tile_fault("a tile is used and none is configured (#UD)");
    if (config_.rows[tile] == 0) tile_fault("a tile is used that is not configured (#UD)");
  }

  TileConfig config_ = {};
  uint8_t tiles_[kTiles][kRowsOfTile][kBytesOfTile] = {};
};

}  // namespace
}  // namespace assay
