#include "engine/kv/shape.h"

#include <limits>

namespace assay {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 62;
constexpr std::int64_t kMostPositions = std::int64_t{1} << 40;

void at_least(const char* name, std::int64_t value, std::int64_t least) {
  if (value >= least) return;
  throw KvError("kv: " + std::string(name) + " is " + std::to_string(value) + "; at least " + std::to_string(least) +
                " is expected");
}

void at_most(const char* name, std::int64_t value, std::int64_t most) {
  if (value <= most) return;
  throw KvError("kv: " + std::string(name) + " is " + std::to_string(value) + "; at most " + std::to_string(most) +
                " is expected");
}

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result) || result > kMostBytes)
    throw KvError("kv: the cache would take more than 2^62 bytes");
  return result;
}

}  // namespace

void check_kv_config(const KvConfig& config) {
  const KvShape& shape = config.shape;
  at_least("layers", shape.layers, 1);
  at_least("n_kv", shape.n_kv, 1);
  at_least("head_dim", shape.head_dim, 1);
  at_least("head_dim_padded", shape.head_dim_padded, shape.head_dim);
  at_most("head_dim_padded", shape.head_dim_padded, 4096);
  if (shape.head_dim_padded % 16 != 0) {
    throw KvError("kv: head_dim_padded is " + std::to_string(shape.head_dim_padded) + "; a multiple of 16 is expected");
  }
  if (shape.type != KvType::f32 && shape.type != KvType::f16)
    throw KvError("kv: the type is " + std::string(dtype_name(shape.type)) + "; f32 or f16 is expected");
  at_least("context", config.context, 1);
  at_most("context", config.context, kMostPositions);
  at_least("sequences", config.sequences, 1);
  at_most("sequences", config.sequences, std::numeric_limits<int>::max());
  at_least("pool_positions", config.pool_positions, 0);
  at_most("pool_positions", config.pool_positions, kMostPositions);
  at_least("window", config.window, 0);
  at_most("window", config.window, kMostPositions);
  at_least("largest_append", config.largest_append, 1);
  at_most("largest_append", config.largest_append, kMostPositions);
  product(kv_bytes(shape, round_up(config.context, 256)), config.sequences);
}

std::int64_t kv_row_bytes(const KvShape& shape) {
  return shape.head_dim_padded * static_cast<std::int64_t>(dtype_size(shape.type));
}

std::int64_t kv_lanes(const KvShape& shape) {
  return product(product(shape.layers, 2), shape.n_kv);
}

std::int64_t kv_bytes(const KvShape& shape, std::int64_t positions) {
  return product(product(kv_lanes(shape), kv_row_bytes(shape)), positions);
}

std::int64_t kv_pool_positions(const KvConfig& config, std::int64_t unit) {
  if (config.pool_positions > 0) return round_up(config.pool_positions, unit);
  return product(config.sequences, round_up(config.context, unit));
}

}  // namespace assay
