// Sequences come and go by the thousand; nothing of them stays.
#include <algorithm>
#include <map>
#include <set>

#include "tests/kv_support.h"

namespace assay::kv_lifecycle_test {
namespace {

constexpr KvShape kShape{.layers = 2, .n_kv = 2, .head_dim = 64, .head_dim_padded = 64, .type = KvType::f16};
constexpr int kLifecycles = 10000;
constexpr std::int64_t kPoolPositions = 1024;

KvConfig config_of() {
  return {.shape = kShape, .context = 700, .sequences = 12, .pool_positions = kPoolPositions};
}

// Sequences of one pool. Refusals are part of the game: the pool is too small for all sequences at full length.
class Pool {
 public:
  explicit Pool(const char* name) : cache_(make_kv_cache(name, config_of())), random_(schedule_seed()) {}

  KvCache& cache() { return *cache_; }
  std::int64_t closed() const { return closed_; }
  std::int64_t refusals() const { return refusals_; }

  void step() {
    switch (random_.below(7)) {
      case 0:
      case 1:
        open();
        break;
      case 2:
        if (random_.below(4) == 0 && !live_.empty()) cache_->reset(pick());
        break;
      case 3:
        close();
        break;
      default:
        if (!live_.empty()) extend(pick());
    }
  }

  void close() {
    if (live_.empty()) return;
    const int sequence = pick();
    cache_->close(sequence);
    live_.erase(sequence);
    ++closed_;
  }

  void close_all() {
    while (!live_.empty()) close();
  }

  // At most the pool, at least what the longest sequence needs, and no more than the sum of all.
  void expect_sound() {
    std::int64_t sum = 0;
    std::int64_t longest = 0;
    for (const int sequence : live_) {
      const std::int64_t bytes = plan_kv_cache(cache_->policy(), config_of(), cache_->reserved(sequence)).bytes;
      sum += bytes;
      longest = std::max(longest, bytes);
    }
    ASSERT_LE(cache_->held_bytes(), sum);
    ASSERT_GE(cache_->held_bytes(), longest);
    ASSERT_LE(cache_->held_bytes(), kv_bytes(kShape, kPoolPositions));
  }

 private:
  int pick() {
    auto chosen = live_.begin();
    std::advance(chosen, random_.below(std::ssize(live_)));
    return *chosen;
  }

  void open() {
    if (std::ssize(live_) == config_of().sequences) return close();
    live_.insert(cache_->open());
  }

  void extend(int sequence) {
    const std::int64_t position = cache_->length(sequence);
    const std::int64_t tokens = std::min(config_of().context - position, 1 + random_.below(random_.below(3) == 0 ? 300 : 20));
    const std::int64_t held = cache_->held_bytes();
    try {
      cache_->reserve(sequence, position + tokens);
    } catch (const KvExhausted&) {
      ++refusals_;
      ASSERT_EQ(cache_->held_bytes(), held);
      return close();
    }
    cache_->append(sequence, tokens);
    const std::int64_t layer = random_.below(kShape.layers);
    for (const KvSide side : kKvSides) store_rows(*cache_, sequence, layer, side, rows_, position, tokens);
  }

  std::unique_ptr<KvCache> cache_;
  Random random_;
  std::set<int> live_;
  std::vector<float> rows_ = std::vector<float>(static_cast<std::size_t>(300 * kShape.n_kv * kShape.head_dim), 0.25F);
  std::int64_t closed_ = 0;
  std::int64_t refusals_ = 0;
};

class KvLifecycles : public testing::TestWithParam<const char*> {};

TEST_P(KvLifecycles, LeaveNothing) {
  Pool pool(GetParam());
  const KvUsage start = pool.cache().usage();
  EXPECT_EQ(start.resident_bytes, 0);
  std::int64_t steps = 0;
  while (pool.closed() < kLifecycles) {
    pool.step();
    if (++steps % 64 == 0) pool.expect_sound();
    if (steps % 4096 == 0) pool.cache().trim();
    ASSERT_FALSE(HasFatalFailure()) << "step " << steps << ", ASSAY_KV_SEED=" << schedule_seed();
  }
  EXPECT_GT(pool.cache().usage().resident_bytes, 0);
  pool.close_all();
  EXPECT_EQ(pool.cache().held_bytes(), 0);
  pool.cache().trim();
  const KvUsage end = pool.cache().usage();
  EXPECT_EQ(end.virtual_bytes, start.virtual_bytes);
  EXPECT_EQ(end.resident_bytes, start.resident_bytes);
  EXPECT_EQ(end.dirty_bytes, start.dirty_bytes);
  EXPECT_EQ(end.heap_bytes, start.heap_bytes);
  EXPECT_GT(pool.refusals(), 0);
  std::cout << GetParam() << ": " << pool.closed() << " sequences, " << pool.refusals() << " refusals, " << steps << " steps\n";
}

INSTANTIATE_TEST_SUITE_P(All, KvLifecycles, testing::Values("paged", "reserved"),
                         [](const testing::TestParamInfo<const char*>& test) { return std::string(test.param); });

}  // namespace
}  // namespace assay::kv_lifecycle_test
