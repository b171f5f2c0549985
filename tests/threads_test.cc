// What ThreadSanitizer watches (ci/sanitize tsan): the engine, its writers and split calls on 2 to 8 threads, the bits those of one.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "engine/convert/quantize.h"
#include "engine/run/site_rows.h"
#include "engine/threads.h"
#include "golden/sha256.h"
#include "harness/verdict/call.h"
#include "harness/verdict/cases.h"
#include "tests/engine_support.h"

namespace assay {
namespace {

constexpr std::size_t kTokens = 12;
constexpr int kMostThreads = 8;

// A pass of eight tokens, one of four, and each of them alone, by the decode set.
std::vector<std::uint32_t> bits_on(const ModelFile& model, int threads, const std::string& kv, bool observed) {
  EngineOptions options;
  options.threads = threads;
  options.plan.context = kTokens;
  options.plan.kv_policy = kv;
  options.plan.all_logits = true;
  Engine engine(model, options);
  SiteRows rows({});
  Observer* observer = observed ? &rows : nullptr;
  const std::vector<std::int32_t> tokens = prompt_tokens("very_long", kTokens);
  std::vector<std::uint32_t> bits = logits_of_all(engine, tokens, 8, observer);
  engine.clear();
  const std::vector<std::uint32_t> decoded = logits_of_all(engine, std::span(tokens).first(3), 1, observer);
  bits.insert(bits.end(), decoded.begin(), decoded.end());
  return bits;
}

class ThreadsOfTheEngine : public testing::TestWithParam<const char*> {};

TEST_P(ThreadsOfTheEngine, TwoToEight) {
  const ModelFile model(test_model(GetParam()));
  const std::vector<std::uint32_t> expected = bits_on(model, 1, "contiguous", false);
  for (int threads = 2; threads <= kMostThreads; ++threads) {
    EXPECT_TRUE(bits_on(model, threads, "contiguous", false) == expected) << threads << " threads";
  }
}

TEST_P(ThreadsOfTheEngine, WithEachCacheAndWatched) {
  const ModelFile model(test_model(GetParam()));
  const std::vector<std::uint32_t> expected = bits_on(model, 1, "contiguous", false);
  for (const char* kv : {"grow", "chunks", "paged", "reserved", "ring"}) {
    EXPECT_TRUE(bits_on(model, 3, kv, false) == expected) << kv;
  }
  EXPECT_TRUE(bits_on(model, 4, "contiguous", true) == expected) << "watched";
}

INSTANTIATE_TEST_SUITE_P(Models, ThreadsOfTheEngine, testing::Values("odd-f16", "odd-q8_0", "odd-q4_k_m"),
                         [](const auto& model) { return std::string(model.param).substr(4); });

// Two engines that run at once, each with threads of its own.
TEST(Threads, TwoEnginesAtOnce) {
  const ModelFile model(test_model("odd-q8_0"));
  const std::vector<std::uint32_t> expected = bits_on(model, 1, "contiguous", false);
  std::vector<std::uint32_t> bits[2];
  parallel_ranges(2, 2, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) bits[i] = bits_on(model, 1, i == 0 ? "paged" : "contiguous", false);
  });
  for (const auto& one : bits) EXPECT_TRUE(one == expected);
}

TEST(Threads, RangesAndTheirExceptions) {
  for (int threads = 2; threads <= kMostThreads; ++threads) {
    std::vector<int> seen(1000, 0);
    parallel_ranges(threads, std::ssize(seen), 7, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
    });
    EXPECT_EQ(seen, std::vector<int>(1000, 1)) << threads;
    const auto every_part_throws = [](std::int64_t begin, std::int64_t) { throw std::runtime_error(std::to_string(begin)); };
    EXPECT_THROW(parallel_ranges(threads, 100, 1, every_part_throws), std::runtime_error) << threads;
  }
}

TEST(Threads, EachTakesWhatOthersLeave) {
  SharedRange range;
  for (int threads = 1; threads <= kMostThreads; ++threads) {
    std::vector<int> seen(1000, 0);
    std::vector<std::int64_t> begins(seen.size(), 0);
    range.reset();
    parallel_ranges(threads, threads, 1, [&](std::int64_t, std::int64_t) {
      for (IndexRange piece = range.take(1000, 7, threads); piece.count() > 0; piece = range.take(1000, 7, threads)) {
        begins[static_cast<std::size_t>(piece.begin)] = piece.begin;
        for (std::int64_t i = piece.begin; i < piece.end; ++i) ++seen[static_cast<std::size_t>(i)];
      }
    });
    EXPECT_EQ(seen, std::vector<int>(1000, 1)) << threads;
    EXPECT_TRUE(std::ranges::all_of(begins, [](std::int64_t begin) { return begin % 7 == 0; })) << threads;
    EXPECT_EQ(range.take(1000, 7, threads).count(), 0) << threads;
  }
}

// An encoder's rows among threads make the file that one thread makes.
TEST(Threads, Quantize) {
  const TemporaryFolder folder;
  std::string expected;
  for (const int threads : {1, 2, 5, 8}) {
    const std::filesystem::path out = folder.path() / (std::to_string(threads) + ".gguf");
    quantize({test_model("odd-f16"), out, &find_target("bf16"), threads, {}});
    const std::string sum = sha256_file(out);
    if (expected.empty()) expected = sum;
    EXPECT_EQ(sum, expected) << threads << " threads";
  }
}

// A call that is cut among threads, as `assay check` does it.
TEST(Threads, SplitCalls) {
  for (const char* name : {"rms_norm", "gemm_q4_k_q8_k", "attn_prefill_f16"}) {
    const Op& op = *find_op(name);
    TestCase test = generated_test_case(op, {.shape = {}, .data = "gauss", .seed = 3});
    Call call(op, std::move(test.params), std::move(test.inputs));
    InProcess executor(select_kernel(*op.table).run);
    const Outcome whole = call.run(executor, call.placements().front());
    for (const Split& split : call.signature().splits) {
      for (int parts = 2; parts <= kMostThreads; ++parts) {
        const Outcome cut = call.run_parts(executor, split, parts, {.at_once = true});
        ASSERT_EQ(cut.outputs.size(), whole.outputs.size());
        for (std::size_t i = 0; i < whole.outputs.size(); ++i) EXPECT_EQ(cut.outputs[i].bytes, whole.outputs[i].bytes) << name;
      }
    }
  }
}

}  // namespace
}  // namespace assay
