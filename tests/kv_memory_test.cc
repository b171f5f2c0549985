// The memory of KV caches: the published figures, and the plan against what the kernel says is mapped.
#include <algorithm>

#include "engine/kv/mapping.h"
#include "tests/kv_support.h"

namespace assay::kv_memory_test {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kGiB = 1 << 30;
constexpr std::int64_t kContext = 40960;
constexpr std::int64_t kTokens[] = {5, 100, 300, 1024, 40960};

KvShape qwen3(std::int64_t layers, KvType type) {
  return {.layers = layers, .n_kv = 8, .head_dim = 128, .head_dim_padded = 128, .type = type};
}
KvShape qwen3_0_6b(KvType type) {
  return qwen3(28, type);
}
KvShape qwen3_4b(KvType type) {
  return qwen3(36, type);
}

KvConfig config_of(const KvShape& shape, std::int64_t context = kContext) {
  return {.shape = shape, .context = context, .window = 1024, .largest_append = 512};
}

// Rows of zeros are pages touched all the same.
void append_and_store(KvCache& cache, int sequence, std::int64_t tokens) {
  const KvShape& shape = cache.config().shape;
  const std::int64_t position = cache.length(sequence);
  cache.append(sequence, tokens);
  const std::vector<float> rows(static_cast<std::size_t>(tokens * shape.n_kv * shape.head_dim), 0.5F);
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    for (const KvSide side : kKvSides) store_rows(cache, sequence, layer, side, rows, position, tokens);
  }
}

TEST(KvPlan, PublishedFigures) {
  const auto bytes = [](const char* policy, const KvShape& shape, std::int64_t positions, std::int64_t context) {
    return plan_kv_cache(policy, config_of(shape, context), positions).bytes;
  };
  const KvShape small32 = qwen3_0_6b(KvType::f32);
  const KvShape small16 = qwen3_0_6b(KvType::f16);
  EXPECT_EQ(bytes("contiguous", small32, 1024, 1024), 234881024);
  EXPECT_EQ(bytes("contiguous", small16, 1024, 1024), 112 * kMiB);
  KvShape ungrouped = small32;
  ungrouped.n_kv = 16;
  EXPECT_EQ(bytes("contiguous", ungrouped, 1024, 1024), 448 * kMiB);
  EXPECT_EQ(bytes("contiguous", qwen3_4b(KvType::f16), 40960, 40960) * 8, 45 * kGiB);  // 5.625 GiB
  EXPECT_EQ(kv_bytes(qwen3_4b(KvType::f16), 100), 14745600);                           // 14.06 MiB
  EXPECT_EQ(kv_bytes(qwen3(1, KvType::f16), 256), kMiB);                               // a chunk of one layer
  for (const auto& [positions, mebibytes] :
       {std::pair{5, 28}, std::pair{8, 28}, std::pair{300, 56}, std::pair{1024, 112}, std::pair{32768, 3584}}) {
    EXPECT_EQ(bytes("chunks", small16, positions, kContext), mebibytes * kMiB) << positions;
  }
  EXPECT_EQ(kv_bytes({.layers = 32, .n_kv = 8, .head_dim = 128, .head_dim_padded = 128, .type = KvType::f32}, 8192), 2 * kGiB);
  EXPECT_EQ(kv_bytes({.layers = 80, .n_kv = 8, .head_dim = 128, .head_dim_padded = 128, .type = KvType::f16}, 8192) * 2,
            5 * kGiB);
  EXPECT_EQ(kv_bytes({.layers = 126, .n_kv = 8, .head_dim = 128, .head_dim_padded = 128, .type = KvType::f16}, 131072),
            63 * kGiB);
}

TEST(KvPlan, FollowsEachPolicysGranularity) {
  const KvShape shape = qwen3_0_6b(KvType::f16);
  const auto positions_planned = [&](const char* policy, std::int64_t positions) {
    return plan_kv_cache(policy, config_of(shape), positions).bytes / kv_bytes(shape, 1);
  };
  const std::int64_t expected[][6] = {
      // tokens, contiguous, grow, chunks, paged, reserved (a page is 16 rows of 256 bytes)
      {5, 40960, 256, 256, 16, 16},          {100, 40960, 256, 256, 112, 112},           {300, 40960, 512, 512, 304, 304},
      {1024, 40960, 1024, 1024, 1024, 1024}, {40960, 40960, 40960, 40960, 40960, 40960},
  };
  for (const auto& row : expected) {
    EXPECT_EQ(positions_planned("contiguous", row[0]), row[1]);
    EXPECT_EQ(positions_planned("grow", row[0]), row[2]);
    EXPECT_EQ(positions_planned("chunks", row[0]), row[3]);
    EXPECT_EQ(positions_planned("paged", row[0]), row[4]);
    EXPECT_EQ(positions_planned("reserved", row[0]), row[5]);
    EXPECT_EQ(positions_planned("ring", row[0]), 1536);  // 1024 - 1 + 512, in whole blocks of 16
    EXPECT_EQ(plan_kv_cache("none", config_of(shape), row[0]).bytes * 28, kv_bytes(shape, kContext));
  }
  // While 512 positions are copied into 1024, both are there.
  EXPECT_EQ(plan_kv_cache("grow", config_of(shape), 600).peak_bytes, kv_bytes(shape, 512 + 1024));
  EXPECT_EQ(plan_kv_cache("grow", config_of(shape), 40960).peak_bytes, kv_bytes(shape, 32768 + 40960));
  EXPECT_EQ(plan_kv_cache("grow", config_of(shape), 256).peak_bytes, kv_bytes(shape, 256));
  for (const KvPolicy& policy : kv_policies()) {
    EXPECT_EQ(plan_kv_cache(policy.name, config_of(shape), 0).bytes, 0) << policy.name;
  }
}

// Where a pool's blocks are not whole pages, the pages at the ends of each layer and side hold others' rows too.
std::int64_t shared_page_bytes(const KvPolicy& policy, const KvShape& shape) {
  const bool whole = shape.n_kv * ASSAY_KV_BLOCK * kv_row_bytes(shape) % page_bytes() == 0;
  return std::string(policy.name) != "paged" || whole ? 0 : shape.layers * 2 * 2 * page_bytes();
}

// Reserves and compares with the kernel's list; writes up to 100 tokens, which must not make more resident than planned.
void expect_planned(const KvPolicy& policy, const KvConfig& config, std::int64_t tokens) {
  SCOPED_TRACE(std::string(policy.name) + " " + std::string(dtype_name(config.shape.type)) + ", layers " +
               std::to_string(config.shape.layers) + ", tokens " + std::to_string(tokens));
  const KvPlan plan = policy.plan(config, tokens);
  const auto cache = policy.make(config);
  const int sequence = cache->open();
  cache->reserve(sequence, tokens);
  EXPECT_EQ(cache->held_bytes(), plan.bytes);
  EXPECT_EQ(cache->usage().virtual_bytes, plan.virtual_bytes);
  EXPECT_EQ(cache->usage().resident_bytes, 0);
  append_and_store(*cache, sequence, std::min<std::int64_t>(tokens, 100));
  const KvUsage usage = cache->usage();
  EXPECT_EQ(usage.virtual_bytes, plan.virtual_bytes);
  EXPECT_GT(usage.resident_bytes, 0);
  EXPECT_LE(usage.resident_bytes, round_up(plan.bytes, page_bytes()) + shared_page_bytes(policy, config.shape));
  EXPECT_EQ(usage.dirty_bytes, usage.resident_bytes);
  EXPECT_EQ(usage.heap_bytes, std::string(policy.name) == "reserved" ? plan.bytes : 0);
}

// reserved commits what is reserved; at 40960 that is done for two layers.
KvConfig affordable(const KvPolicy& policy, KvConfig config, std::int64_t tokens) {
  if (std::string(policy.name) == "reserved" && tokens > 1024) config.shape.layers = 2;
  return config;
}

TEST(KvMemory, IsWhatWasPlanned) {
  for (const KvPolicy& policy : kv_policies()) {
    for (const KvType type : {KvType::f32, KvType::f16}) {
      for (const KvShape& shape : {qwen3_0_6b(type), qwen3_4b(type)}) {
        for (const std::int64_t tokens : kTokens) expect_planned(policy, affordable(policy, config_of(shape), tokens), tokens);
      }
    }
  }
}

// Context, heads and rows that fill no whole number of pages.
TEST(KvMemory, IsWhatWasPlannedForOddShapesToo) {
  KvConfig config{.shape = {.layers = 3, .n_kv = 3, .head_dim = 80, .head_dim_padded = 80, .type = KvType::f16}, .context = 333};
  config.window = 21;
  config.largest_append = 100;
  for (const KvPolicy& policy : kv_policies()) {
    for (const std::int64_t tokens : {1, 17, 100, 256, 257, 333}) expect_planned(policy, config, tokens);
  }
}

// What was reserved is all that is touched when it is full: every page of it.
TEST(KvMemory, IsResidentOnceWritten) {
  for (const char* const name : {"contiguous", "grow", "chunks", "paged", "reserved"}) {
    const KvConfig config = config_of(qwen3_0_6b(KvType::f16), 512);
    const auto cache = make_kv_cache(name, config);
    const int sequence = cache->open();
    cache->reserve(sequence, 512);
    append_and_store(*cache, sequence, 512);
    const KvUsage usage = cache->usage();
    EXPECT_EQ(usage.resident_bytes, 56 * kMiB) << name;
    EXPECT_EQ(usage.dirty_bytes, 56 * kMiB) << name;
  }
}

TEST(KvMemory, OfALongContextIsTakenAsItIsUsed) {
  for (const char* const name : {"contiguous", "paged", "reserved"}) {
    const auto cache = make_kv_cache(name, config_of(qwen3_4b(KvType::f16)));
    const int sequence = cache->open();
    cache->reserve(sequence, 100);
    append_and_store(*cache, sequence, 100);
    const KvUsage usage = cache->usage();
    EXPECT_EQ(usage.virtual_bytes * 8, 45 * kGiB) << name;
    EXPECT_GE(usage.resident_bytes, kv_bytes(qwen3_4b(KvType::f16), 100)) << name;
    EXPECT_LT(usage.resident_bytes * 100, usage.virtual_bytes) << name;
    EXPECT_LT(usage.heap_bytes * 100, usage.virtual_bytes) << name;
    std::cout << name << ": " << usage.virtual_bytes << " bytes of address space, " << usage.resident_bytes << " resident, "
              << usage.dirty_bytes << " dirty after 100 of 40960 tokens of the 4B shape\n";
    cache->reset(sequence);
    cache->trim();
    EXPECT_EQ(cache->usage().heap_bytes, 0) << name;
    const bool keeps = std::string(name) == "contiguous";  // until it is closed
    EXPECT_EQ(cache->usage().resident_bytes, keeps ? usage.resident_bytes : 0) << name;
  }
}

}  // namespace
}  // namespace assay::kv_memory_test
