// A small cache for tests of the interface.
#pragma once

#include "tests/kv_support.h"
#include "tests/refusals.h"

namespace assay {

inline constexpr KvShape kSmallShape{.layers = 2, .n_kv = 2, .head_dim = 64, .head_dim_padded = 64, .type = KvType::f32};

inline KvConfig small_config() {
  return {.shape = kSmallShape, .context = 600, .sequences = 3, .window = 50, .largest_append = 300};
}

// Appends `tokens` rows that all hold `value`.
inline void fill(KvCache& cache, int sequence, std::int64_t tokens, float value) {
  const KvShape& shape = cache.config().shape;
  const std::int64_t position = cache.length(sequence);
  cache.reserve(sequence, position + tokens);
  cache.append(sequence, tokens);
  const std::vector<float> rows(static_cast<std::size_t>(tokens * shape.n_kv * shape.head_dim), value);
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    for (const KvSide side : kKvSides) store_rows(cache, sequence, layer, side, rows, position, tokens);
  }
}

// The first number of each position's key, head 1 of the last layer.
inline std::vector<float> keys(KvCache& cache, int sequence) {
  std::vector<float> result;
  for (const AssayKvSpan& span : cache.view(sequence, kSmallShape.layers - 1)) {
    const auto* const k = static_cast<const float*>(span.k) + span.k_head_stride;
    for (std::int64_t p = 0; p < span.count; ++p) result.push_back(k[p * span.k_row_stride]);
  }
  return result;
}

inline std::string policy_name(const testing::TestParamInfo<const char*>& info) {
  return info.param;
}

}  // namespace assay
