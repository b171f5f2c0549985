// The same random sequences in several caches, compared after each step.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "tests/kv_support.h"

namespace assay {

inline constexpr std::int64_t kLockstepContext = 1400;
inline constexpr std::int64_t kLockstepLayers = 2;

struct KvGrouping {
  const char* name;
  std::int64_t n_heads;
  std::int64_t n_kv;
};

inline constexpr KvGrouping kKvGroupings[] = {{"mha", 2, 2}, {"gqa2", 4, 2}, {"gqa4", 8, 2}, {"gqa8", 16, 2}, {"mqa", 4, 1}};
inline constexpr std::int64_t kHeadDims[] = {64, 80, 128, 256};

struct KvCase {
  KvType type;
  KvGrouping grouping;
  std::int64_t head_dim;

  KvShape shape() const {
    const std::int64_t padded = head_dim == 80 ? 96 : head_dim;
    return {.layers = kLockstepLayers, .n_kv = grouping.n_kv, .head_dim = head_dim, .head_dim_padded = padded, .type = type};
  }
};

inline void PrintTo(const KvCase& test, std::ostream* out) {
  *out << dtype_name(test.type) << ' ' << test.grouping.name << ", head_dim " << test.head_dim;
}

inline std::vector<KvCase> all_kv_cases() {
  std::vector<KvCase> cases;
  for (const KvType type : {KvType::f32, KvType::f16}) {
    for (const KvGrouping& grouping : kKvGroupings) {
      for (const std::int64_t head_dim : kHeadDims) cases.push_back({type, grouping, head_dim});
    }
  }
  return cases;
}

inline std::string case_name(const testing::TestParamInfo<KvCase>& info) {
  return std::string(dtype_name(info.param.type)) + "_" + info.param.grouping.name + "_d" + std::to_string(info.param.head_dim);
}

inline std::uint64_t case_seed(const KvCase& test) {
  return schedule_seed() +
         static_cast<std::uint64_t>(test.grouping.n_heads * 1000 + test.grouping.n_kv * 100000 + test.head_dim) +
         (test.type == KvType::f16 ? 1U << 20 : 0U);
}

// What was stored, as the caches keep it: [layer][side], bytes of [position, n_kv, head_dim].
using Rows = std::vector<std::uint8_t>;
using History = std::array<std::array<Rows, 2>, kLockstepLayers>;

// The same sequences in several caches.
class Lockstep {
 public:
  Lockstep(const KvCase& test, std::vector<std::unique_ptr<KvCache>> caches, const Attention& attention)
      : test_(test), caches_(std::move(caches)), attention_(attention), random_(case_seed(test)) {}

  Random& random() { return random_; }
  std::int64_t comparisons() const { return comparisons_; }
  std::int64_t length(int sequence) const { return caches_[0]->length(sequence); }
  bool any_open() const { return !histories_.empty(); }

  int pick_open() {
    auto chosen = histories_.begin();
    std::advance(chosen, random_.below(std::ssize(histories_)));
    return chosen->first;
  }

  void open() {
    const int sequence = caches_[0]->open();
    for (std::size_t i = 1; i < caches_.size(); ++i) ASSERT_EQ(caches_[i]->open(), sequence);
    histories_[sequence] = {};
  }

  void reset(int sequence) {
    poison(sequence);
    for (const auto& cache : caches_) cache->reset(sequence);
    histories_[sequence] = {};
  }

  void close(int sequence) {
    poison(sequence);
    for (const auto& cache : caches_) cache->close(sequence);
    histories_.erase(sequence);
  }

  void trim() {
    for (const auto& cache : caches_) cache->trim();
    compare(pick_open());
  }

  void append(int sequence, std::int64_t tokens) {
    extend(sequence, tokens);
    compare(sequence);
  }

  void extend(int sequence, std::int64_t tokens) {
    const std::int64_t position = length(sequence);
    for (const auto& cache : caches_) {
      cache->reserve(sequence, std::min(kLockstepContext, position + tokens + random_.below(40)));
      cache->append(sequence, tokens);
    }
    for (std::int64_t layer = 0; layer < kLockstepLayers; ++layer) {
      for (const KvSide side : kKvSides) store(sequence, layer, side, position, tokens);
    }
  }

  // Attention over one layer, and the rows themselves.
  void compare(int sequence) {
    const std::int64_t length = caches_[0]->length(sequence);
    if (length == 0) return;
    const std::int64_t layer = random_.below(kLockstepLayers);
    // A ring serves the queries of the last append.
    const std::int64_t most = attention_.window > 0 ? std::max<std::int64_t>(1, caches_[0]->appended(sequence)) : length;
    const std::int64_t rows = std::min(most, 1 + random_.below(2));
    const auto q = random_.floats(rows * attention_.n_heads * attention_.shape.head_dim);
    const auto expected = attend(attention_, caches_[0]->view(sequence, layer), length, rows, q);
    expect_rows(*caches_[0], sequence, layer);
    for (std::size_t i = 1; i < caches_.size(); ++i) {
      ASSERT_EQ(caches_[i]->length(sequence), length) << caches_[i]->policy();
      expect_rows(*caches_[i], sequence, layer);
      const auto y = attend(attention_, caches_[i]->view(sequence, layer), length, rows, q);
      ASSERT_TRUE(same_bits(y, expected)) << caches_[i]->policy() << ": sequence " << sequence << " of " << length
                                          << " positions, layer " << layer << ", the last " << rows << " rows";
      ++comparisons_;
    }
  }

 private:
  void store(int sequence, std::int64_t layer, KvSide side, std::int64_t position, std::int64_t tokens) {
    const auto rows = random_.floats(tokens * attention_.shape.n_kv * attention_.shape.head_dim);
    for (const auto& cache : caches_) store_rows(*cache, sequence, layer, side, rows, position, tokens);
    const Rows bytes = stored_bytes(test_.type, rows);
    Rows& history = histories_[sequence][static_cast<std::size_t>(layer)][static_cast<std::size_t>(side)];
    history.insert(history.end(), bytes.begin(), bytes.end());
  }

  // What the next owner of this storage may see beyond its end.
  void poison(int sequence) {
    for (const auto& cache : caches_) {
      const std::int64_t tokens = cache->appended(sequence);
      const std::vector<float> rows(static_cast<std::size_t>(tokens * attention_.shape.n_kv * attention_.shape.head_dim), NAN);
      for (std::int64_t layer = 0; layer < kLockstepLayers; ++layer) {
        for (const KvSide side : kKvSides) {
          store_rows(*cache, sequence, layer, side, rows, cache->length(sequence) - tokens, tokens);
        }
      }
    }
  }

  // Each row of the view is what was stored, and its padding is zero. A ring's first rows may be newer ones.
  void expect_rows(KvCache& cache, int sequence, std::int64_t layer) {
    const std::int64_t length = cache.length(sequence);
    const std::int64_t first = attention_.window > 0 ? std::max<std::int64_t>(0, length - attention_.window) : 0;
    std::int64_t end = 0;
    for (const AssayKvSpan& span : cache.view(sequence, layer)) {
      ASSERT_EQ(span.first % ASSAY_KV_BLOCK, 0) << cache.policy();
      ASSERT_TRUE(end == 0 || span.first == end) << cache.policy();
      end = span.first + span.count;
      ASSERT_TRUE(end == length || span.count % ASSAY_KV_BLOCK == 0) << cache.policy();
      ASSERT_TRUE(end != span.first) << cache.policy();
      for (std::int64_t p = std::max(first, span.first); p < end; ++p) expect_row(cache, span, p, sequence, layer);
    }
    ASSERT_EQ(end, length) << cache.policy();
  }

  void expect_row(const KvCache& cache, const AssayKvSpan& span, std::int64_t position, int sequence, std::int64_t layer) {
    const KvShape& shape = attention_.shape;
    const std::int64_t element = static_cast<std::int64_t>(dtype_size(shape.type));
    const History& history = histories_[sequence];
    for (std::int64_t head = 0; head < shape.n_kv; ++head) {
      const std::int64_t offset = head * span.k_head_stride + (position - span.first) * span.k_row_stride;
      const auto* const k = static_cast<const std::uint8_t*>(span.k) + offset * element;
      const auto* const v = static_cast<const std::uint8_t*>(span.v) + offset * element;
      const std::int64_t at = (position * shape.n_kv + head) * shape.head_dim * element;
      const auto bytes = static_cast<std::size_t>(shape.head_dim * element);
      const auto& sides = history[static_cast<std::size_t>(layer)];
      const bool same = std::memcmp(k, sides[0].data() + at, bytes) == 0 && std::memcmp(v, sides[1].data() + at, bytes) == 0;
      const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
      const bool padded = std::all_of(k + bytes, k + shape.head_dim_padded * element, is_zero) &&
                          std::all_of(v + bytes, v + shape.head_dim_padded * element, is_zero);
      ASSERT_TRUE(same && padded) << cache.policy() << ": sequence " << sequence << " layer " << layer << " position " << position
                                  << " head " << head;
    }
  }

  KvCase test_;
  std::vector<std::unique_ptr<KvCache>> caches_;
  Attention attention_;
  Random random_;
  std::map<int, History> histories_;
  std::int64_t comparisons_ = 0;
};

}  // namespace assay
