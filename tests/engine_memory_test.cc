// Memory of a model that runs: nothing is taken while tokens flow, what is mapped is what the plan says, and what is resident
// stays within it.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <iostream>
#include <limits>
#include <memory>
#include <numeric>

#include "engine/convert/known_shapes.h"
#include "engine/convert/synth.h"
#include "engine/kv/mapping.h"
#include "engine/run/generate.h"
#include "engine/run/sampler.h"
#include "engine/threads.h"
#include "harness/verdict/discipline/sanitized.h"
#include "tests/engine_support.h"
#include "tests/memory_calls.h"

namespace assay::engine_memory_test {
namespace {

constexpr std::int64_t kDecoded = 256;

EngineOptions options_of(int threads, const std::string& kv, KvType type, std::int64_t context) {
  EngineOptions options;
  options.threads = threads;
  options.plan.kv_policy = kv;
  options.plan.kv_type = type;
  options.plan.context = context;
  options.plan.chunk = 16;
  return options;
}

// Calls since the object was made, of the heap and of the kernel.
class Calls {
 public:
  std::int64_t made() const { return heap_calls() + kernel_calls() - before_; }

 private:
  std::int64_t before_ = heap_calls() + kernel_calls();
};

TEST(MemoryCalls, AreCountedInEveryThreadAndLibrary) {
#if ASSAY_SANITIZED
  GTEST_SKIP() << "a sanitizer takes memory of its own";
#endif
  const Calls calls;
  const std::unique_ptr<int> one = std::make_unique<int>(1);
  EXPECT_EQ(calls.made(), 1);
  const Mapping mapping = Mapping::memory(1);
  EXPECT_EQ(calls.made(), 2);
  Team team(3);
  const Calls in_threads;
  team.run([](int part) {
    const std::vector<int> memory(100, part);
    EXPECT_EQ(memory.back(), part);
  });
  EXPECT_EQ(in_threads.made(), 3);
}

// The heap's end is met within 64 blocks: a reading that took from it would change the next.
TEST(MemoryCalls, ReadingTheAddressSpaceDoesNotChangeIt) {
  std::vector<std::unique_ptr<std::byte[]>> blocks(64);
  for (std::unique_ptr<std::byte[]>& block : blocks) {
    block = std::make_unique<std::byte[]>(4096);
    const std::int64_t space = address_space_bytes();
    ASSERT_EQ(address_space_bytes(), space);
  }
}

// From the first token after the constructor on: a prompt in passes of 16 and one of 3, then one by one, each drawn.
void expect_no_calls(const ModelFile& model, const EngineOptions& options) {
  SCOPED_TRACE(options.plan.kv_policy + ", threads " + std::to_string(options.threads));
  Engine engine(model, options);
  Sampler sampler(model.config().vocab, {.temperature = 0.8F, .top_k = 40, .top_p = 0.95, .min_p = 0.01});
  const std::vector<std::int32_t> prompt = prompt_tokens("very_long", 35);
  engine.feed(prompt);
  const std::int64_t growths = engine.cache().growths();
  const std::int64_t space = address_space_bytes();
  const Calls calls;
  for (std::int64_t i = 0; i < kDecoded; ++i) {
    const std::int32_t token = sampler.sample(engine.logits(), static_cast<std::uint64_t>(i));
    engine.feed({&token, 1});
  }
  EXPECT_EQ(calls.made(), 0);
  EXPECT_EQ(address_space_bytes(), space);
  if (options.plan.kv_policy != "paged") {
    EXPECT_EQ(engine.cache().growths(), growths);
  }
  EXPECT_EQ(engine.length(), 35 + kDecoded);
  engine.reset();
  const Calls again;
  engine.feed(prompt);
  EXPECT_EQ(again.made(), 0);
}

TEST(EngineMemory, NothingIsTakenWhileTokensFlow) {
  for (const char* const name : {"bf16-folder", "q4_k_m-llama.cpp", "motley"}) {
    SCOPED_TRACE(name);
    const ModelFile model(test_model(name));
    for (const int threads : {1, 2}) expect_no_calls(model, options_of(threads, "contiguous", KvType::f32, 35 + kDecoded));
  }
  const ModelFile model(test_model("q4_k_m-llama.cpp"));
  expect_no_calls(model, options_of(3, "contiguous", KvType::f16, 35 + kDecoded));
  expect_no_calls(model, options_of(2, "paged", KvType::f16, 35 + kDecoded));
  expect_no_calls(model, options_of(1, "ring", KvType::f16, 35 + kDecoded));
}

// A cache of its own that grows as the engine's must: calls of reserve, and of nothing else, are the engine's calls.
TEST(EngineMemory, CachesThatGrowDoSoInReserveAlone) {
  const ModelFile model(test_model("q4_k_m-llama.cpp"));
  for (const char* const kv : {"grow", "chunks", "reserved"}) {
    SCOPED_TRACE(kv);
    Engine engine(model, options_of(2, kv, KvType::f32, 600));
    const auto shadow = make_kv_cache(kv, engine.plan().kv);
    const int sequence = shadow->open();
    const std::vector<std::int32_t> prompt = prompt_tokens("very_long", 20);
    engine.feed(prompt);
    shadow->reserve(sequence, 20);
    shadow->append(sequence, 20);
    std::int64_t total = 0;
    while (engine.length() < 600) {
      const std::int64_t growths = engine.cache().growths();
      const Calls reserving;
      shadow->reserve(sequence, engine.length() + 1);
      const std::int64_t expected = reserving.made();
      shadow->append(sequence, 1);
      const Calls feeding;
      const std::int32_t token = 7;
      engine.feed({&token, 1});
      ASSERT_EQ(feeding.made(), expected) << "position " << engine.length() - 1;
      if (engine.cache().growths() == growths) {
        ASSERT_EQ(expected, 0);
      }
      total += expected;
    }
    EXPECT_EQ(engine.cache().growths(), shadow->growths());
    if (std::string(kv) != "reserved") {  // that one takes pages behind addresses that it has
      EXPECT_GT(total, 0);
    }
  }
}

// Nor does generate() take anything between two tokens.
TEST(EngineMemory, NothingIsTakenBetweenGeneratedTokens) {
  const ModelFile model(test_model("q4_k_m-llama.cpp"));
  Engine engine(model, options_of(2, "contiguous", KvType::f32, 300));
  const std::vector<std::int32_t> prompt = prompt_tokens("psalm", 12);
  std::vector<std::int64_t> made;
  made.reserve(static_cast<std::size_t>(kDecoded));
  const Calls calls;
  const Generated out = generate(engine, {prompt, kDecoded, {}, {.temperature = 1}, nullptr, nullptr},
                                 [&](std::int32_t) { made.push_back(calls.made()); });
  ASSERT_EQ(std::ssize(out.tokens), kDecoded);
  EXPECT_EQ(made.front(), made.back());
}

std::int64_t whole_pages(std::int64_t bytes) {
  return round_up(bytes, page_bytes());
}

std::vector<std::int64_t> sizes_of(const std::vector<MappedRange>& ranges) {
  std::vector<std::int64_t> sizes;
  for (const MappedRange& range : ranges) {
    if (range.writable && !range.file && !range.heap) sizes.push_back(range.bytes());
  }
  std::ranges::sort(sizes);
  return sizes;
}

// Makes an engine and feeds it to the end of its context; its writable ranges are the plan's regions, in whole pages.
void expect_mapped_as_planned(const ModelFile& model, const EngineOptions& options) {
  SCOPED_TRACE(options.plan.kv_policy + (options.plan.kv_type == KvType::f32 ? " f32" : " f16"));
  const std::vector<MappedRange> before = mapped_ranges();
  Engine engine(model, options);
  const std::vector<Region> regions = engine.plan().regions();
  ASSERT_EQ(regions.size(), 5U);
  std::vector<std::int64_t> expected;
  for (const std::size_t i : {0, 2, 3}) expected.push_back(whole_pages(regions[i].bytes));
  EXPECT_EQ(engine.mapped().weights, expected[0]);
  EXPECT_EQ(engine.mapped().decode, expected[1]);
  EXPECT_EQ(engine.mapped().prefill, expected[2]);
  const std::vector<std::int32_t> tokens(static_cast<std::size_t>(engine.plan().options.context), 5);
  engine.feed(tokens);
  std::vector<std::int64_t> sizes = sizes_of(new_ranges(before, mapped_ranges()));
  for (const std::int64_t size : expected) {
    const auto found = std::ranges::find(sizes, size);
    ASSERT_NE(found, sizes.end()) << "no range of " << size << " bytes";
    sizes.erase(found);
  }
  // What is left is the cache's, in one range or in many; `reserved` has addresses for whole groups of positions.
  EXPECT_EQ(engine.cache().held_bytes(), regions[1].bytes);
  const KvPlan kv = plan_kv_cache(options.plan.kv_policy, engine.plan().kv, engine.plan().options.context);
  EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}), kv.virtual_bytes);
  if (options.plan.kv_policy != "reserved") {
    EXPECT_EQ(kv.virtual_bytes, whole_pages(regions[1].bytes));
  }
}

class HeapInOnePlace {
 public:
  // Else large blocks of the heap are ranges of their own, among which the plan's would have to be found.
  HeapInOnePlace() { mallopt(M_MMAP_THRESHOLD, std::numeric_limits<int>::max()); }
};

const std::filesystem::path& synthetic_0_6b() {
  static const TemporaryFolder folder;
  static const std::filesystem::path file = [] {
    std::filesystem::path out = folder.path() / "synth.gguf";
    synthesize({known_shape("qwen3-0.6b"), &find_target("q4_k_m"), out, 1, 2, {}});
    return out;
  }();
  return file;
}

TEST(EngineMemory, WhatIsMappedIsWhatIsPlanned) {
  const HeapInOnePlace heap;
  const ModelFile model(test_model("bf16-folder"));
  for (const KvPolicy& policy : kv_policies()) {
    for (const KvType type : {KvType::f32, KvType::f16}) {
      EngineOptions options = options_of(1, policy.name, type, 333);
      options.plan.chunk = std::string(policy.name) == "none" ? 333 : 50;
      expect_mapped_as_planned(model, options);
    }
  }
}

TEST(EngineMemory, WhatIsMappedIsWhatIsPlannedOfThe06BShape) {
  const HeapInOnePlace heap;
  const ModelFile model(synthetic_0_6b());
  for (const KvPolicy& policy : kv_policies()) {
    EngineOptions options = options_of(1, policy.name, KvType::f16, 24);
    options.plan.chunk = 24;
    expect_mapped_as_planned(model, options);
  }
}

// To the end of the context: every page of the cache has been written.
void expect_resident_within(const std::filesystem::path& file, const EngineOptions& options) {
  std::int64_t planned = 0;
  const std::int64_t before = resident_bytes();
  const ModelFile model(file);
  Engine engine(model, options);
  for (const Region& region : engine.plan().regions()) planned += region.bytes;
  const std::vector<std::int32_t> prompt = std::vector<std::int32_t>(static_cast<std::size_t>(options.plan.context - 60), 9);
  const Generated out = generate(engine, {prompt, options.plan.context, {}, {}, nullptr, nullptr});
  EXPECT_EQ(out.ended, Ended::context);
  const std::int64_t resident = resident_bytes() - before;
  EXPECT_LE(static_cast<double>(resident), 1.02 * static_cast<double>(planned));
  std::cout << file.filename() << ", " << options.plan.kv_policy << ": " << planned << " bytes planned, " << resident
            << " resident after " << engine.length() << " tokens\n";
}

TEST(EngineMemory, WhatIsResidentStaysWithinThePlan) {
#if ASSAY_SANITIZED
  GTEST_SKIP() << "a sanitizer takes memory of its own";
#endif
  for (const char* const kv : {"contiguous", "grow", "chunks", "paged", "reserved"}) {
    EngineOptions options = options_of(2, kv, KvType::f32, 3000);
    options.plan.chunk = 512;
    expect_resident_within(test_model("bf16-folder"), options);
  }
}

TEST(EngineMemory, WhatIsResidentStaysWithinThePlanOfThe06BShape) {
  EngineOptions options = options_of(2, "contiguous", KvType::f16, 160);
  options.plan.chunk = 100;
  expect_resident_within(synthetic_0_6b(), options);
}

// A plan reads the header: the weights' pages stay where they are.
TEST(EngineMemory, APlanTouchesNoWeight) {
  const std::filesystem::path& file = synthetic_0_6b();
  [[maybe_unused]] const std::int64_t before = resident_bytes();
  const std::int64_t pages_before = resident_file_bytes();
  const ModelFile model(file);
  const Plan plan = make_plan(model.config(), model.weights(), {});
  EXPECT_GT(plan.weight_bytes, 300'000'000);
  EXPECT_LT(resident_file_bytes() - pages_before, 8'000'000);  // 4.9 MB of vocabulary, read by pages
#if !defined(__SANITIZE_ADDRESS__)                             // whose heap keeps more around each block than it gives
  EXPECT_LT(resident_bytes() - before, 40'000'000);
#endif
}

}  // namespace
}  // namespace assay::engine_memory_test
