// What a KV cache is built for, the bytes that follow from it, and its errors.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "golden/dtype.h"

namespace assay {

using KvType = DType;  // f32 or f16
enum class KvSide : std::uint8_t { k, v };
inline constexpr KvSide kKvSides[] = {KvSide::k, KvSide::v};

struct KvShape {
  std::int64_t layers = 0;
  std::int64_t n_kv = 0;  // kv heads of a layer
  std::int64_t head_dim = 0;
  std::int64_t head_dim_padded = 0;  // a multiple of 16, so that rows are whole pages at every 256 positions
  KvType type = KvType::f16;
};

struct KvConfig {
  KvShape shape;
  std::int64_t context = 0;         // positions that a sequence may reach
  std::int64_t sequences = 1;       // that may be open at once
  std::int64_t pool_positions = 0;  // that a pool holds for all sequences together; 0: sequences * context
  std::int64_t window = 0;          // positions that attention looks back at, its own included; only ring uses it
  std::int64_t largest_append = 1;  // tokens that one append may bring; only ring uses it
};

// Wrong use: no such policy, an impossible shape, a call out of its order or range. Nothing has been changed.
class KvError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The context, the pool or the machine has run out. Nothing has been written; the sequence is what it was.
class KvExhausted : public KvError {
 public:
  using KvError::KvError;
};

// Throws KvError naming the first size that is out of its domain.
void check_kv_config(const KvConfig& config);

std::int64_t kv_row_bytes(const KvShape& shape);  // one position of one head of one side
std::int64_t kv_lanes(const KvShape& shape);      // heads of all layers and both sides: layers * 2 * n_kv

// 2 * layers * n_kv * positions * head_dim_padded * bytes of an element. Throws KvError where that passes 2^62.
std::int64_t kv_bytes(const KvShape& shape, std::int64_t positions);

inline std::int64_t ceil_div(std::int64_t n, std::int64_t unit) {
  return (n + unit - 1) / unit;
}
inline std::int64_t round_up(std::int64_t n, std::int64_t unit) {
  return ceil_div(n, unit) * unit;
}

// Positions of the pool that paged and reserved share out.
std::int64_t kv_pool_positions(const KvConfig& config, std::int64_t unit);

}  // namespace assay
