// Random schedules: whatever the policy, attention has the bits that it has over the contiguous cache.
#include <algorithm>
#include <map>
#include <memory>

#include "tests/kv_support.h"

namespace assay {
namespace {

constexpr std::int64_t kContext = 1400;
constexpr std::int64_t kLayers = 2;

struct Grouping {
  const char* name;
  std::int64_t n_heads;
  std::int64_t n_kv;
};

constexpr Grouping kGroupings[] = {{"mha", 2, 2}, {"gqa2", 4, 2}, {"gqa4", 8, 2}, {"gqa8", 16, 2}, {"mqa", 4, 1}};
constexpr std::int64_t kHeadDims[] = {64, 80, 128, 256};

struct Case {
  KvType type;
  Grouping grouping;
  std::int64_t head_dim;

  KvShape shape() const {
    const std::int64_t padded = head_dim == 80 ? 96 : head_dim;
    return {.layers = kLayers, .n_kv = grouping.n_kv, .head_dim = head_dim, .head_dim_padded = padded, .type = type};
  }
};

void PrintTo(const Case& test, std::ostream* out) {
  *out << type_name(test.type) << ' ' << test.grouping.name << ", head_dim " << test.head_dim;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const KvType type : {KvType::f32, KvType::f16}) {
    for (const Grouping& grouping : kGroupings) {
      for (const std::int64_t head_dim : kHeadDims) cases.push_back({type, grouping, head_dim});
    }
  }
  return cases;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return std::string(type_name(info.param.type)) + "_" + info.param.grouping.name + "_d" + std::to_string(info.param.head_dim);
}

std::uint64_t case_seed(const Case& test) {
  return schedule_seed() +
         static_cast<std::uint64_t>(test.grouping.n_heads * 1000 + test.grouping.n_kv * 100000 + test.head_dim) +
         (test.type == KvType::f16 ? 1U << 20 : 0U);
}

// What was stored, as the caches keep it: [layer][side], bytes of [position, n_kv, head_dim].
using Rows = std::vector<std::uint8_t>;
using History = std::array<std::array<Rows, 2>, kLayers>;

// The same sequences in several caches.
class Lockstep {
 public:
  Lockstep(const Case& test, std::vector<std::unique_ptr<KvCache>> caches, const Attention& attention)
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

  void fork(int from) {
    const int sequence = caches_[0]->fork(from);
    for (std::size_t i = 1; i < caches_.size(); ++i) ASSERT_EQ(caches_[i]->fork(from), sequence) << caches_[i]->policy();
    histories_[sequence] = histories_[from];
    compare(sequence);
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
    for (const auto& [sequence, history] : histories_) compare(sequence);
  }

  void append(int sequence, std::int64_t tokens) {
    extend(sequence, tokens);
    compare(sequence);
  }

  void extend(int sequence, std::int64_t tokens) {
    const std::int64_t position = length(sequence);
    for (const auto& cache : caches_) {
      cache->reserve(sequence, std::min(kContext, position + tokens + random_.below(40)));
      cache->append(sequence, tokens);
    }
    for (std::int64_t layer = 0; layer < kLayers; ++layer) {
      for (const KvSide side : kKvSides) store(sequence, layer, side, position, tokens);
    }
  }

  // Attention over one layer, and the rows themselves.
  void compare(int sequence) {
    const std::int64_t length = caches_[0]->length(sequence);
    if (length == 0) return;
    const std::int64_t layer = random_.below(kLayers);
    // A ring serves the queries of the last append.
    const std::int64_t most = attention_.window > 0 ? std::max<std::int64_t>(1, caches_[0]->appended(sequence)) : length;
    const std::int64_t rows = std::min(most, 1 + random_.below(4));
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
      for (std::int64_t layer = 0; layer < kLayers; ++layer) {
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
    const std::int64_t element = shape.type == KvType::f32 ? 4 : 2;
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

  Case test_;
  std::vector<std::unique_ptr<KvCache>> caches_;
  Attention attention_;
  Random random_;
  std::map<int, History> histories_;
  std::int64_t comparisons_ = 0;
};

enum class Step : std::uint8_t { append, fork, reset, reopen, trim };

std::vector<Step> shuffled_steps(Random& random) {
  std::vector<Step> steps(14, Step::append);
  for (const Step step : {Step::fork, Step::fork, Step::fork, Step::reset, Step::reset, Step::reopen, Step::reopen, Step::trim}) {
    steps.insert(steps.begin() + random.below(std::ssize(steps) + 1), step);
  }
  return steps;
}

constexpr std::int64_t kSizes[] = {1, 1, 2, 15, 16, 17, 31, 100, 255, 256, 257, 300};

void run_step(Lockstep& caches, Step step, std::int64_t largest) {
  const int sequence = caches.pick_open();
  const std::int64_t room = kContext - caches.length(sequence);
  switch (step) {
    case Step::append:
      if (room == 0) {
        caches.reset(sequence);
      } else {
        caches.append(sequence, std::min({room, largest, caches.random().pick(kSizes)}));
      }
      break;
    case Step::fork:
      caches.fork(sequence);
      break;
    case Step::reset:
      caches.reset(sequence);
      break;
    case Step::reopen:
      caches.close(sequence);
      caches.open();
      break;
    case Step::trim:
      caches.trim();
      break;
  }
}

class KvPolicies : public testing::TestWithParam<Case> {};

TEST_P(KvPolicies, ThatKeepAllGiveTheBitsOfContiguous) {
  const Case test = GetParam();
  const KvConfig config{.shape = test.shape(), .context = kContext, .sequences = 4};
  std::vector<std::unique_ptr<KvCache>> caches;
  caches.push_back(make_kv_cache("contiguous", config));
  for (const KvPolicy& policy : kv_policies()) {
    if (policy.keeps_all && std::string(policy.name) != "contiguous") caches.push_back(policy.make(config));
  }
  ASSERT_EQ(caches.size(), 5);
  Lockstep lockstep(test, std::move(caches), {.shape = config.shape, .n_heads = test.grouping.n_heads});
  lockstep.open();
  lockstep.append(0, 1000 + lockstep.random().below(40));  // attention's spans of 1024 are crossed
  for (const Step step : shuffled_steps(lockstep.random())) {
    run_step(lockstep, step, kContext);
    ASSERT_FALSE(HasFatalFailure()) << "ASSAY_KV_SEED=" << schedule_seed();
  }
  lockstep.trim();
  EXPECT_GT(lockstep.comparisons(), 60);
}

TEST_P(KvPolicies, RingGivesTheBitsOfContiguousUnderItsWindow) {
  const Case test = GetParam();
  Random sizes(case_seed(test));
  constexpr std::int64_t kWindows[] = {1, 5, 16, 17, 31, 100, 250};
  constexpr std::int64_t kAppends[] = {1, 2, 16, 33};
  KvConfig config{.shape = test.shape(), .context = kContext, .sequences = 4};
  config.window = sizes.pick(kWindows);
  config.largest_append = sizes.pick(kAppends);
  std::vector<std::unique_ptr<KvCache>> caches;
  caches.push_back(make_kv_cache("contiguous", config));
  caches.push_back(make_kv_cache("ring", config));
  Lockstep lockstep(test, std::move(caches), {.shape = config.shape, .n_heads = test.grouping.n_heads, .window = config.window});
  lockstep.open();
  const std::int64_t wraps = 3 * (config.window + config.largest_append + 16);
  while (lockstep.length(0) < wraps) {
    lockstep.extend(0, 1 + lockstep.random().below(config.largest_append));
    if (lockstep.random().below(4) == 0) lockstep.compare(0);
    ASSERT_FALSE(HasFatalFailure()) << "window " << config.window << " ASSAY_KV_SEED=" << schedule_seed();
  }
  for (const Step step : shuffled_steps(lockstep.random())) {
    run_step(lockstep, step, config.largest_append);
    ASSERT_FALSE(HasFatalFailure()) << "window " << config.window << " ASSAY_KV_SEED=" << schedule_seed();
  }
  EXPECT_GT(lockstep.comparisons(), 13);  // a step each, but for forks and trims of empty sequences
}

TEST_P(KvPolicies, NoneGivesTheBitsOfBidirectionalContiguous) {
  const Case test = GetParam();
  const KvConfig config{.shape = test.shape(), .context = 300};
  const Attention attention{.shape = config.shape, .n_heads = test.grouping.n_heads, .causal = false};
  const auto contiguous = make_kv_cache("contiguous", config);
  const auto none = make_kv_cache("none", config);
  Random random(case_seed(test));
  for (KvCache* const cache : {contiguous.get(), none.get()}) ASSERT_EQ(cache->open(), 0);
  for (const std::int64_t tokens : {std::int64_t{1}, std::int64_t{16}, std::int64_t{17}, 18 + random.below(283)}) {
    for (KvCache* const cache : {contiguous.get(), none.get()}) {
      cache->reset(0);
      cache->reserve(0, tokens);
      cache->append(0, tokens);
    }
    for (std::int64_t layer = 0; layer < kLayers; ++layer) {
      for (const KvSide side : kKvSides) {
        const auto rows = random.floats(tokens * config.shape.n_kv * config.shape.head_dim);
        for (KvCache* const cache : {contiguous.get(), none.get()}) store_rows(*cache, 0, layer, side, rows, 0, tokens);
      }
      const std::int64_t rows = std::min<std::int64_t>(tokens, 4);
      const auto q = random.floats(rows * attention.n_heads * config.shape.head_dim);
      EXPECT_TRUE(same_bits(attend(attention, none->view(0, layer), rows, rows, q),
                            attend(attention, contiguous->view(0, layer), rows, rows, q)))
          << tokens << " tokens, ASSAY_KV_SEED=" << schedule_seed();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, KvPolicies, testing::ValuesIn(all_cases()), case_name);

}  // namespace
}  // namespace assay
