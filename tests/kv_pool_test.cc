// Pools of KV caches: running out, and no block that cannot be used.
#include <algorithm>

#include "tests/kv_small.h"

namespace assay::kv_pool_test {
namespace {

class Pools : public testing::TestWithParam<const char*> {};

TEST_P(Pools, ThatRunOutChangeNothing) {
  KvConfig config = small_config();
  config.pool_positions = 512;
  const auto cache = make_kv_cache(GetParam(), config);
  const int a = cache->open();
  const int b = cache->open();
  fill(*cache, a, 250, 1.0F);
  fill(*cache, b, 250, 2.0F);
  const auto rows_a = keys(*cache, a);
  const auto rows_b = keys(*cache, b);
  const std::int64_t held = cache->held_bytes();
  expect_mentions(message_of<KvExhausted>([&] { cache->reserve(a, 600); }), {GetParam(), "sequence 0", "more", "free"});
  expect_mentions(message_of<KvExhausted>([&] { cache->reserve(b, 513); }), {"sequence 1"});
  EXPECT_EQ(cache->held_bytes(), held);
  EXPECT_EQ(cache->reserved(a), 250);
  EXPECT_EQ(keys(*cache, a), rows_a);
  EXPECT_EQ(keys(*cache, b), rows_b);
  cache->close(b);
  EXPECT_NO_THROW(cache->reserve(a, 512));  // what b held serves a
}

INSTANTIATE_TEST_SUITE_P(All, Pools, testing::Values("paged", "reserved"), policy_name);

// Blocks that lie apart serve as well as neighbours, and a sequence holds less than one block more than it needs.
TEST(KvPaged, NoFreeBlockIsUseless) {
  KvConfig config = small_config();
  config.pool_positions = 40 * 16;
  const auto cache = make_kv_cache("paged", config);
  for (int i = 0; i < 3; ++i) cache->open();
  for (std::int64_t length = 1; length <= 200; length += 9) {
    for (int i = 0; i < 3; ++i) cache->reserve(i, length + i);
    EXPECT_EQ(cache->held_bytes(),
              kv_bytes(kSmallShape, round_up(length, 16) + round_up(length + 1, 16) + round_up(length + 2, 16)));
  }
  cache->close(0);
  cache->close(2);
  const std::int64_t free_blocks = 40 - ceil_div(cache->reserved(1), 16);
  EXPECT_EQ(cache->open(), 0);
  EXPECT_THROW(cache->reserve(0, free_blocks * 16 + 1), KvExhausted);
  fill(*cache, 0, free_blocks * 16, 1.0F);
  EXPECT_EQ(keys(*cache, 0), std::vector<float>(static_cast<std::size_t>(free_blocks * 16), 1.0F));
  EXPECT_EQ(cache->held_bytes(), kv_bytes(kSmallShape, config.pool_positions));
}

}  // namespace
}  // namespace assay::kv_pool_test
