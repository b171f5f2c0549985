// Random schedules: whatever the policy, attention has the bits that it has over the contiguous cache.
#include <algorithm>
#include <memory>

#include "tests/kv_lockstep.h"

namespace assay::kv_policies_test {
namespace {

enum class Step : std::uint8_t { append, open, reset, reopen, trim };

constexpr std::int64_t kAppends = 10;

std::vector<Step> shuffled_steps(Random& random) {
  std::vector<Step> steps(kAppends, Step::append);
  for (const Step step : {Step::open, Step::open, Step::open, Step::reset, Step::reset, Step::reopen, Step::reopen, Step::trim}) {
    steps.insert(steps.begin() + random.below(std::ssize(steps) + 1), step);
  }
  return steps;
}

constexpr std::int64_t kSizes[] = {1, 1, 2, 15, 16, 17, 31, 100, 255, 256, 257, 300};

void run_step(Lockstep& caches, Step step, std::int64_t largest) {
  const int sequence = caches.pick_open();
  switch (step) {
    case Step::append:
      if (caches.length(sequence) == kLockstepContext) caches.reset(sequence);
      caches.append(sequence, std::min({kLockstepContext - caches.length(sequence), largest, caches.random().pick(kSizes)}));
      break;
    case Step::open:
      caches.open();
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

class KvPolicies : public testing::TestWithParam<KvCase> {};

TEST_P(KvPolicies, ThatKeepAllGiveTheBitsOfContiguous) {
  const KvCase test = GetParam();
  const KvConfig config{.shape = test.shape(), .context = kLockstepContext, .sequences = 4};
  std::vector<std::unique_ptr<KvCache>> caches;
  caches.push_back(make_kv_cache("contiguous", config));
  for (const KvPolicy& policy : kv_policies()) {
    if (policy.keeps_all && std::string(policy.name) != "contiguous") caches.push_back(policy.make(config));
  }
  ASSERT_EQ(caches.size(), 5);
  Lockstep lockstep(test, std::move(caches), {.shape = config.shape, .n_heads = test.grouping.n_heads});
  lockstep.open();
  lockstep.append(0, 1025 + lockstep.random().below(40));  // attention's spans are 1024 positions
  for (const Step step : shuffled_steps(lockstep.random())) {
    run_step(lockstep, step, kLockstepContext);
    ASSERT_FALSE(HasFatalFailure()) << "ASSAY_KV_SEED=" << schedule_seed();
  }
  lockstep.trim();
  EXPECT_GE(lockstep.comparisons(), 4 * (1 + kAppends));
}

TEST_P(KvPolicies, RingGivesTheBitsOfContiguousUnderItsWindow) {
  const KvCase test = GetParam();
  Random sizes(case_seed(test));
  constexpr std::int64_t kWindows[] = {1, 5, 16, 17, 31, 100, 250};
  constexpr std::int64_t kLargest[] = {1, 2, 16, 33};
  KvConfig config{.shape = test.shape(), .context = kLockstepContext, .sequences = 4};
  config.window = sizes.pick(kWindows);
  config.largest_append = sizes.pick(kLargest);
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
  EXPECT_GE(lockstep.comparisons(), kAppends);
}

TEST_P(KvPolicies, NoneGivesTheBitsOfBidirectionalContiguous) {
  const KvCase test = GetParam();
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
    for (std::int64_t layer = 0; layer < kLockstepLayers; ++layer) {
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

INSTANTIATE_TEST_SUITE_P(All, KvPolicies, testing::ValuesIn(all_kv_cases()), case_name);

}  // namespace
}  // namespace assay::kv_policies_test
