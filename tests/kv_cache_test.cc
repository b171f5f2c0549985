// The interface of KV caches: refusals, which leave everything as it was, and no memory taken while tokens flow.
#include <algorithm>

#include "harness/verdict/discipline/allocations.h"
#include "tests/kv_small.h"

namespace assay::kv_cache_test {
namespace {

TEST(KvNames, AnUnknownPolicyIsToldWhichExist) {
  const std::string message = message_of<KvError>([] { make_kv_cache("pagde", small_config()); });
  expect_mentions(message, {"'pagde'", "contiguous, grow, chunks, paged, reserved, ring, none"});
  EXPECT_THROW(plan_kv_cache("", small_config(), 1), KvError);
}

TEST(KvNames, ImpossibleConfigurationsNameTheSize) {
  const auto refusal = [](auto change) {
    KvConfig config = small_config();
    change(config);
    std::string planned = message_of<KvError>([&] { plan_kv_cache("ring", config, 1); });
    EXPECT_EQ(planned, message_of<KvError>([&] { make_kv_cache("ring", config); }));
    return planned;
  };
  expect_mentions(refusal([](KvConfig& c) { c.shape.layers = 0; }), {"layers is 0", "at least 1"});
  expect_mentions(refusal([](KvConfig& c) { c.shape.n_kv = -1; }), {"n_kv is -1"});
  expect_mentions(refusal([](KvConfig& c) { c.shape.head_dim = 65; }), {"head_dim_padded is 64", "at least 65"});
  expect_mentions(refusal([](KvConfig& c) { c.shape.head_dim_padded = 72; }), {"head_dim_padded is 72", "multiple of 16"});
  expect_mentions(refusal([](KvConfig& c) { c.context = 0; }), {"context is 0"});
  expect_mentions(refusal([](KvConfig& c) { c.sequences = 0; }), {"sequences is 0"});
  expect_mentions(refusal([](KvConfig& c) { c.pool_positions = -16; }), {"pool_positions is -16"});
  expect_mentions(refusal([](KvConfig& c) { c.largest_append = 0; }), {"largest_append is 0"});
  expect_mentions(refusal([](KvConfig& c) { c.window = 0; }), {"window is 0"});
  expect_mentions(refusal([](KvConfig& c) { c.shape.layers = std::int64_t{1} << 61; }), {"2^62 bytes"});
  expect_mentions(message_of<KvError>([] { plan_kv_cache("paged", small_config(), 601); }), {"paged", "601", "600"});
}

TEST(KvNames, WhatTheKernelRefusesIsAnError) {
  KvConfig config{.shape = {.layers = 1024, .n_kv = 1024, .head_dim = 4096, .head_dim_padded = 4096, .type = KvType::f32}};
  config.context = 1 << 14;  // 2^49 bytes; an address has 47 bits
  expect_mentions(message_of<KvExhausted>([&] { make_kv_cache("paged", config); }), {"562949953421312 bytes"});
  for (const char* const name : {"contiguous", "reserved"}) {
    const auto cache = make_kv_cache(name, config);
    const int sequence = cache->open();
    expect_mentions(message_of<KvExhausted>([&] { cache->reserve(sequence, 1); }), {"562949953421312 bytes"});
    EXPECT_EQ(cache->reserved(sequence), 0);
    EXPECT_EQ(cache->held_bytes(), 0);
  }
}

void targets(const KvCache& cache, int sequence, std::int64_t layer, KvSide side, std::int64_t position, std::int64_t tokens) {
  cache.for_targets(sequence, layer, side, position, tokens, [](const KvTarget&) {});
}

class EachPolicy : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<KvCache> cache_ = make_kv_cache(GetParam(), small_config());
};

TEST_P(EachPolicy, RefusesWhatIsOutsideAndStaysAsItWas) {
  const int sequence = cache_->open();
  fill(*cache_, sequence, 40, 1.0F);
  const auto before = keys(*cache_, sequence);
  const std::int64_t held = cache_->held_bytes();
  expect_mentions(message_of<KvExhausted>([&] { cache_->reserve(sequence, 601); }), {GetParam(), "sequence 0", "601", "600"});
  expect_mentions(message_of<KvExhausted>([&] { cache_->append(sequence, 1); }),
                  {"1 tokens after 40", "40 positions are reserved"});
  EXPECT_THROW(cache_->append(sequence, -1), KvError);
  EXPECT_THROW(cache_->view(sequence, 2), KvError);
  EXPECT_THROW(cache_->view(sequence, -1), KvError);
  EXPECT_THROW(cache_->view(sequence + 1, 0), KvError);
  EXPECT_THROW(cache_->view(99, 0), KvError);
  EXPECT_THROW(targets(*cache_, sequence, 0, KvSide::k, -1, 1), KvError);
  EXPECT_THROW(targets(*cache_, sequence, 0, KvSide::k, 39, 2), KvError);
  EXPECT_THROW(targets(*cache_, sequence, 0, KvSide::k, 41, 0), KvError);
  EXPECT_THROW(targets(*cache_, sequence, 0, KvSide::k, 5, std::numeric_limits<std::int64_t>::max()), KvError);
  EXPECT_THROW(targets(*cache_, sequence, 2, KvSide::k, 0, 1), KvError);
  EXPECT_EQ(cache_->length(sequence), 40);
  EXPECT_EQ(cache_->reserved(sequence), 40);
  EXPECT_EQ(cache_->held_bytes(), held);
  EXPECT_EQ(keys(*cache_, sequence), before);
}

TEST_P(EachPolicy, OpensAsManySequencesAsItWasMadeFor) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cache_->open(), i);
  expect_mentions(message_of<KvExhausted>([&] { cache_->open(); }), {GetParam(), "all 3 sequences"});
  cache_->close(1);
  EXPECT_THROW(cache_->reserve(1, 1), KvError);
  EXPECT_EQ(cache_->open(), 1);
  EXPECT_EQ(cache_->length(1), 0);
}

TEST_P(EachPolicy, AClosedSequenceHoldsNothing) {
  const int sequence = cache_->open();
  const KvUsage start = cache_->usage();
  fill(*cache_, sequence, 290, 1.0F);
  EXPECT_GT(cache_->held_bytes(), 0);
  EXPECT_GT(cache_->usage().resident_bytes, 0);
  cache_->close(sequence);
  cache_->trim();
  EXPECT_EQ(cache_->held_bytes(), 0);
  const KvUsage end = cache_->usage();
  EXPECT_EQ(end.virtual_bytes, start.virtual_bytes);
  EXPECT_EQ(end.resident_bytes, 0);
  EXPECT_EQ(end.dirty_bytes, 0);
  EXPECT_EQ(end.heap_bytes, 0);
}

TEST_P(EachPolicy, TakesNoMemoryWhileTokensFlow) {
  const int sequence = cache_->open();
  const bool once = std::string(GetParam()) == "none";
  const std::int64_t steps = once ? 1 : 290;
  cache_->reserve(sequence, 300);
  const std::vector<float> rows(static_cast<std::size_t>(kSmallShape.n_kv * kSmallShape.head_dim), 1.0F);
  const std::int64_t growths = cache_->growths();
  const std::int64_t mapped = cache_->usage().virtual_bytes;
  const Allocations before = allocations();
  count_allocations(true);
  std::int64_t positions = 0;
  for (std::int64_t i = 0; i < steps; ++i) {
    cache_->append(sequence, 1);
    for (std::int64_t layer = 0; layer < kSmallShape.layers; ++layer) {
      for (const KvSide side : kKvSides) store_rows(*cache_, sequence, layer, side, rows, i, 1);
      for (const AssayKvSpan& span : cache_->view(sequence, layer)) positions += span.count;
    }
  }
  count_allocations(false);
  EXPECT_EQ(allocations().taken, before.taken);
  EXPECT_EQ(cache_->growths(), growths);
  EXPECT_EQ(cache_->usage().virtual_bytes, mapped);
  EXPECT_GE(positions, steps);
}

class KeepingPolicy : public EachPolicy {};

TEST_P(KeepingPolicy, RowsOfTheLastAppendAloneMayBeStored) {
  const int sequence = cache_->open();
  fill(*cache_, sequence, 20, 1.0F);
  fill(*cache_, sequence, 5, 2.0F);
  expect_mentions(message_of<KvError>([&] { targets(*cache_, sequence, 0, KvSide::v, 19, 2); }), {"position 19", "20 .. 24"});
  EXPECT_NO_THROW(targets(*cache_, sequence, 0, KvSide::v, 20, 5));
}

TEST_P(KeepingPolicy, SequencesGoTheirOwnWay) {
  const int a = cache_->open();
  fill(*cache_, a, 270, 1.0F);
  const int b = cache_->open();
  fill(*cache_, b, 270, 1.0F);
  fill(*cache_, b, 2, 2.0F);
  fill(*cache_, a, 2, 3.0F);
  cache_->close(a);
  auto rows = keys(*cache_, b);
  ASSERT_GE(rows.size(), 50U);
  EXPECT_EQ(rows.back(), 2.0F);
  rows.resize(rows.size() - 2);
  // A ring's oldest block may be overwritten in part.
  EXPECT_TRUE(std::all_of(rows.begin() + 16, rows.end(), [](float value) { return value == 1.0F; }));
}

INSTANTIATE_TEST_SUITE_P(All, EachPolicy, testing::Values("contiguous", "grow", "chunks", "paged", "reserved", "ring", "none"),
                         policy_name);

INSTANTIATE_TEST_SUITE_P(All, KeepingPolicy, testing::Values("contiguous", "grow", "chunks", "paged", "reserved", "ring"),
                         policy_name);

TEST(KvRing, AnAppendThatWouldOverwriteItsWindowIsRefused) {
  const auto cache = make_kv_cache("ring", small_config());
  const int sequence = cache->open();
  cache->reserve(sequence, 600);
  expect_mentions(message_of<KvError>([&] { cache->append(sequence, 301); }), {"ring", "301", "largest_append, 300"});
  EXPECT_EQ(cache->length(sequence), 0);
}

TEST(KvNone, ASecondAppendIsRefused) {
  const auto cache = make_kv_cache("none", small_config());
  const int sequence = cache->open();
  cache->reserve(sequence, 600);
  cache->append(sequence, 5);
  expect_mentions(message_of<KvError>([&] { cache->append(sequence, 1); }), {"none", "reset"});
  EXPECT_EQ(cache->length(sequence), 5);
}

TEST(KvGrow, TrimGivesUnusedCapacityBack) {
  const auto cache = make_kv_cache("grow", small_config());
  const int sequence = cache->open();
  fill(*cache, sequence, 260, 1.0F);
  EXPECT_EQ(cache->held_bytes(), kv_bytes(kSmallShape, 512));
  cache->trim();
  EXPECT_EQ(cache->held_bytes(), kv_bytes(kSmallShape, 260));
  EXPECT_EQ(cache->usage().virtual_bytes, round_up(kv_bytes(kSmallShape, 260), 4096));
  EXPECT_EQ(keys(*cache, sequence), std::vector<float>(260, 1.0F));
}

}  // namespace
}  // namespace assay::kv_cache_test
