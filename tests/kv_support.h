// What the tests of KV caches share: random rows, attention over a view, and rows read through one.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engine/kv/policies.h"
#include "reference/ops/find.h"

namespace assay {

// ASSAY_KV_SEED, or a new one; printed, so that a failure can be seen again.
inline std::uint64_t schedule_seed() {
  static const std::uint64_t seed = [] {
    const char* const given = std::getenv("ASSAY_KV_SEED");
    const std::uint64_t value = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
    std::cout << "ASSAY_KV_SEED=" << value << " repeats these schedules\n";
    return value;
  }();
  return seed;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(generator_() % static_cast<std::uint64_t>(n)); }
  template <class Values>
  auto pick(const Values& values) {
    return *(std::begin(values) + below(std::ssize(values)));
  }
  // In [-2, 2), of 24 bits: f16 has to round them.
  std::vector<float> floats(std::int64_t count) {
    std::vector<float> result(static_cast<std::size_t>(count));
    for (float& value : result) value = static_cast<float>(static_cast<std::int32_t>(generator_() >> 32) >> 8) * 0x1p-22F;
    return result;
  }

 private:
  std::mt19937_64 generator_;
};

// The bytes that a cache of `type` keeps of these numbers.
inline std::vector<std::uint8_t> stored_bytes(KvType type, const std::vector<float>& values) {
  std::vector<std::uint8_t> bytes(values.size() * dtype_size(type));
  if (type == KvType::f32) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  } else {
    const ConvertArgs args{values.data(), bytes.data(), std::ssize(values)};
    convert_f32_f16_scalar(&args);
  }
  return bytes;
}

// Rows [tokens, n_kv, head_dim] of one side, one after the other.
inline void store_rows(KvCache& cache, KvCache::Sequence sequence, std::int64_t layer, KvSide side,
                       const std::vector<float>& rows, std::int64_t position, std::int64_t tokens) {
  const KvShape& shape = cache.config().shape;
  cache.store(sequence, layer, side, {rows.data(), shape.n_kv * shape.head_dim, shape.head_dim}, position, tokens);
}

struct Attention {
  KvShape shape;
  std::int64_t n_heads;
  std::int64_t window = 0;
  bool causal = true;
};

inline AttentionArgs attention_args(const Attention& attention, std::span<const AssayKvSpan> view, std::int64_t position,
                                    std::int64_t rows, const float* q, float* y) {
  AttentionArgs args{};
  args.q = q;
  args.spans = view.data();
  args.y = y;
  args.rows = rows;
  args.n_heads = attention.n_heads;
  args.n_kv = attention.shape.n_kv;
  args.head_dim = attention.shape.head_dim;
  args.position = position;
  args.window = attention.window;
  args.span_count = std::ssize(view);
  args.q_row_stride = args.y_row_stride = attention.n_heads * attention.shape.head_dim;
  args.q_head_stride = args.y_head_stride = attention.shape.head_dim;
  args.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(attention.shape.head_dim)));
  args.causal = attention.causal ? 1 : 0;
  return args;
}

inline AssayStatus run_attention(AttentionForm form, const Attention& attention, const AttentionArgs& args) {
  return select_kernel(*attention_op(form, attention.shape.type).table).run(&args);
}

inline AssayStatus decode(const Attention& attention, std::span<const AssayKvSpan> view, std::int64_t position, const float* q,
                          float* y) {
  return run_attention(AttentionForm::decode, attention, attention_args(attention, view, position, 1, q, y));
}

inline AssayStatus prefill(const Attention& attention, std::span<const AssayKvSpan> view, std::int64_t position,
                           std::int64_t rows, const float* q, float* y) {
  return run_attention(AttentionForm::prefill, attention, attention_args(attention, view, position, rows, q, y));
}

// The last `rows` rows by prefill and, after them, the very last by decode; all of it must have been written.
inline std::vector<float> attend(const Attention& attention, std::span<const AssayKvSpan> view, std::int64_t length,
                                 std::int64_t rows, const std::vector<float>& q) {
  const std::int64_t row = attention.n_heads * attention.shape.head_dim;
  std::vector<float> y(static_cast<std::size_t>((rows + 1) * row), std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(prefill(attention, view, length - rows, rows, q.data(), y.data()), ASSAY_OK);
  EXPECT_EQ(decode(attention, view, length - 1, q.data() + (rows - 1) * row, y.data() + rows * row), ASSAY_OK);
  std::size_t nonzero = 0;
  for (const float value : y) {
    if (!std::isfinite(value)) {
      ADD_FAILURE() << "an output that was not written, or is not finite";
      break;
    }
    nonzero += value != 0 ? 1 : 0;
  }
  EXPECT_GT(nonzero, y.size() / 2);
  return y;
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace assay
