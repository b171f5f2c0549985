// One answer: a model's logits have the same bits whatever the threads, the split of the prompt, the storage of the KV cache,
// the ISA, and whoever looks on.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cctype>

#include "engine/kv/policies.h"
#include "engine/run/site_rows.h"
#include "tests/engine_support.h"

namespace assay::engine_bits_test {
namespace {

struct Conditions {
  int threads = 1;
  std::size_t chunk = 512;
  std::string kv = "contiguous";
  KvType kv_type = KvType::f32;
  Isa isa = best_isa();
  bool observed = false;
  std::int64_t window = 0;

  std::string text() const {
    return std::to_string(threads) + " threads, chunk " + std::to_string(chunk) + ", " + kv +
           (kv_type == KvType::f32 ? " f32, " : " f16, ") + std::string(isa_name(isa)) + (observed ? ", observed" : "") +
           (window > 0 ? ", window " + std::to_string(window) : "");
  }
};

EngineOptions options_of(const Conditions& conditions, std::span<const std::int32_t> tokens) {
  EngineOptions options;
  options.threads = conditions.threads;
  options.plan.chunk = static_cast<std::int64_t>(conditions.chunk);
  options.plan.context = std::ssize(tokens);
  options.plan.kv_policy = conditions.kv;
  options.plan.kv_type = conditions.kv_type;
  options.plan.window = conditions.window;
  return options;
}

std::vector<std::uint32_t> bits_of(const ModelFile& model, const Conditions& conditions, std::span<const std::int32_t> tokens) {
  EngineOptions options = options_of(conditions, tokens);
  options.plan.all_logits = true;
  Engine engine(model, options);
  engine.choose_all(Backend::kernels, conditions.isa);
  SiteRows rows({});
  return logits_of_all(engine, tokens, conditions.chunk, conditions.observed ? &rows : nullptr);
}

// Number of rows that differ, and the first of them, for the message.
void expect_same(const std::vector<std::uint32_t>& expected, const std::vector<std::uint32_t>& bits, std::int64_t vocab,
                 const Conditions& conditions) {
  ASSERT_EQ(bits.size(), expected.size()) << conditions.text();
  const auto differ = std::ranges::mismatch(expected, bits).in1;
  EXPECT_TRUE(differ == expected.end()) << conditions.text() << ": row " << (differ - expected.begin()) / vocab
                                        << " differs first";
}

std::string model_name(const testing::TestParamInfo<const char*>& model) {
  std::string name = model.param;
  std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
  return name;
}

class Comparison : public testing::TestWithParam<const char*> {
 protected:
  static void compare(const Conditions& base, std::span<const Conditions> others, std::size_t count) {
    const ModelFile model(test_model(GetParam()));
    const std::vector<std::int32_t> tokens = prompt_tokens("very_long", count);
    const std::vector<std::uint32_t> expected = bits_of(model, base, tokens);
    ASSERT_EQ(std::ssize(expected), std::ssize(tokens) * model.config().vocab);
    for (const Conditions& one : others) expect_same(expected, bits_of(model, one, tokens), model.config().vocab, one);
  }
};

class BitsOfEveryType : public Comparison {};
class BitsOfTheEngine : public Comparison {};
class BitsOfALongPrompt : public Comparison {};

constexpr std::size_t kLong = 530;  // two passes of 512, nine of 64, 76 of 7; the last of each is shorter
constexpr std::size_t kShort = 50;  // seven passes of 7 and one of a single token

TEST_P(BitsOfALongPrompt, OverThreadsAndChunks) {
  const Conditions others[] = {{.chunk = 1},
                               {.chunk = 7},
                               {.chunk = 64},
                               {.threads = 2, .chunk = 1},
                               {.threads = 2, .chunk = 64},
                               {.threads = 2, .chunk = 512},
                               {.threads = 3, .chunk = 7},
                               {.threads = 3, .chunk = 512}};
  compare({}, others, kLong);
}

TEST_P(BitsOfEveryType, OverThreadsAndChunks) {
  std::vector<Conditions> others;
  for (const int threads : {1, 2, 3}) {
    for (const std::size_t chunk : {1, 7, 64, 512}) others.push_back({.threads = threads, .chunk = chunk});
  }
  compare({}, others, kShort);
}

// A plan without all_logits has the last layer's rows for one token: its bits and, after passes of no logits, later tokens' are
// those of a plan that has all.
TEST_P(BitsOfEveryType, OfLogitsThatAreAskedForAlone) {
  const ModelFile model(test_model(GetParam()));
  const std::vector<std::int32_t> tokens = prompt_tokens("very_long", kShort);
  const std::vector<std::uint32_t> all = bits_of(model, {}, tokens);
  const auto vocab = static_cast<std::size_t>(model.config().vocab);
  const auto row = [&](std::size_t token) { return std::vector(&all[token * vocab], &all[token * vocab] + vocab); };
  for (const Conditions& one : {Conditions{}, Conditions{.threads = 2, .chunk = 7}, Conditions{.threads = 3, .kv = "paged"}}) {
    Engine engine(model, options_of(one, tokens));
    const auto feed = [&](std::size_t count, Logits wanted) {
      engine.feed(std::span(tokens).subspan(static_cast<std::size_t>(engine.length()), count), wanted);
      std::vector<std::uint32_t> bits;
      for (const float x : engine.logits()) bits.push_back(std::bit_cast<std::uint32_t>(x));
      return bits;
    };
    EXPECT_EQ(feed(kShort - 9, Logits::last), row(kShort - 10)) << one.text();
    EXPECT_TRUE(feed(4, Logits::none).empty()) << one.text();
    EXPECT_TRUE(feed(1, Logits::none).empty()) << one.text();
    EXPECT_EQ(feed(3, Logits::last), row(kShort - 2)) << one.text();
    EXPECT_EQ(feed(1, Logits::last), row(kShort - 1)) << one.text();
  }
}

TEST_P(BitsOfEveryType, OverIsas) {
  std::vector<Conditions> others;
  for (const Isa isa : isas_here()) {
    for (const std::size_t chunk : {1, 7}) others.push_back({.chunk = chunk, .isa = isa});
  }
  compare({}, others, 16);
}

// More parts than a matrix has groups of rows, or a pass rows: some threads have nothing to do.
TEST_P(BitsOfTheEngine, OverMoreThreadsThanThereIsWork) {
  const Conditions others[] = {{.threads = 11, .chunk = 1}, {.threads = 11, .chunk = 7}};
  compare({}, others, 15);
}

TEST_P(BitsOfTheEngine, OverCachesThatKeepAllPositions) {
  for (const KvType type : {KvType::f32, KvType::f16}) {
    std::vector<Conditions> others;
    for (const KvPolicy& policy : kv_policies()) {
      if (!policy.keeps_all) continue;
      others.push_back({.chunk = 1, .kv = policy.name, .kv_type = type});
      others.push_back({.threads = 2, .chunk = 64, .kv = policy.name, .kv_type = type});
    }
    // Windows as wide as the context; and a prompt in one pass, after which nothing need be kept.
    others.push_back({.threads = 2, .chunk = 64, .kv = "ring", .kv_type = type});
    others.push_back({.threads = 2, .chunk = 512, .kv = "none", .kv_type = type});
    compare({.kv_type = type}, others, 270);
  }
}

// A ring forgets what a window does not see; the other caches keep it, unread.
TEST_P(BitsOfTheEngine, OverCachesOfASlidingWindow) {
  std::vector<Conditions> others;
  for (const std::size_t chunk : {1, 7, 64}) {
    for (const char* const kv : {"contiguous", "ring"}) {
      others.push_back({.threads = 2, .chunk = chunk, .kv = kv, .window = 19});
    }
  }
  compare({.window = 19}, others, 150);
}

TEST_P(BitsOfTheEngine, WhoeverLooksOn) {
  std::vector<Conditions> others;
  for (const int threads : {1, 2}) {
    for (const std::size_t chunk : {1, 7, 512}) others.push_back({.threads = threads, .chunk = chunk, .observed = true});
  }
  compare({}, others, kShort);
}

std::map<std::string, Array> seen_by(const ModelFile& model, int threads, std::span<const std::int32_t> tokens) {
  EngineOptions options;
  options.threads = threads;
  options.plan.all_logits = true;
  Engine engine(model, options);
  SiteRows rows({});
  engine.feed(tokens, Logits::all, &rows);
  return rows.sites();
}

// Who looks on sees what all threads have finished: the rows of every site.
TEST_P(BitsOfTheEngine, WhateverIsSeen) {
  constexpr int kTimes = 10;
  const ModelFile model(test_model(GetParam()));
  const std::vector<std::int32_t> tokens = prompt_tokens("very_long", kShort);
  const auto expected = seen_by(model, 1, tokens);
  for (int time = 0; time < kTimes; ++time) {
    const auto seen = seen_by(model, 2 + time % 2, tokens);
    ASSERT_EQ(seen.size(), expected.size());
    for (const auto& [site, rows] : expected) ASSERT_EQ(seen.at(site).bytes, rows.bytes) << site << ", time " << time;
  }
}

// f16 caches round and windows forget: had they the bits of others, the comparisons above would say nothing about them.
TEST(Bits, OfOtherTypesAndWindowsDiffer) {
  const ModelFile model(test_model("bf16-folder"));
  const std::vector<std::int32_t> tokens = prompt_tokens("very_long", 20);
  const auto plain = bits_of(model, {}, tokens);
  EXPECT_NE(bits_of(model, {.kv_type = KvType::f16}, tokens), plain);
  EXPECT_NE(bits_of(model, {.window = 19}, tokens), plain);
}

INSTANTIATE_TEST_SUITE_P(Models, BitsOfEveryType,
                         testing::Values("f32", "bf16", "f16", "q4_0", "q5_0", "q8_0", "q4_k", "q5_k", "q6_k", "motley",
                                         "odd-f16", "odd-q8_0", "odd-q4_k_m"),
                         model_name);
INSTANTIATE_TEST_SUITE_P(Models, BitsOfALongPrompt, testing::Values("bf16-folder", "q4_k_m-llama.cpp"), model_name);
INSTANTIATE_TEST_SUITE_P(Models, BitsOfTheEngine, testing::Values("bf16-folder", "motley", "odd-f16"), model_name);

}  // namespace
}  // namespace assay::engine_bits_test
