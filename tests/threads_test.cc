// What ThreadSanitizer watches (ci/sanitize tsan): the engine, its writers, callers of every op, attribute and audit on 2 to 8 threads, the bits
// those of one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "engine/convert/quantize.h"
#include "engine/run/alone_when_crowded.h"
#include "engine/run/site_rows.h"
#include "engine/threads.h"
#include "engine/time_slices.h"
#include "golden/sha256.h"
#include "harness/forensics/attribute/attribute.h"
#include "harness/forensics/audit/audit.h"
#include "harness/verdict/call.h"
#include "harness/verdict/cases.h"
#include "tests/attribute_support.h"
#include "tests/engine_support.h"

namespace assay::threads_test {
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
  Team team(2);
  team.run([&](int part) { bits[part] = bits_on(model, 2, part == 0 ? "paged" : "contiguous", false); });
  for (const auto& one : bits) EXPECT_TRUE(one == expected);
}

TEST(Threads, RangesAndTheirExceptions) {
  for (int threads = 2; threads <= kMostThreads; ++threads) {
    std::vector<int> seen(1000, 0);
    Team team(threads);
    parallel_ranges(team, std::ssize(seen), 7, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
    });
    EXPECT_EQ(seen, std::vector<int>(1000, 1)) << threads;
    const auto every_part_throws = [](std::int64_t begin, std::int64_t) { throw std::runtime_error(std::to_string(begin)); };
    EXPECT_THROW(parallel_ranges(team, 100, 1, every_part_throws), std::runtime_error) << threads;
  }
}

TEST(Threads, BlocksAreTheSameForAnyTeam) {
  for (int threads = 1; threads <= kMostThreads; ++threads) {
    Team team(threads);
    std::vector<std::int64_t> ends(1000, 0);
    parallel_blocks(team, std::ssize(ends), 64, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) ends[static_cast<std::size_t>(i)] += end;
    });
    for (std::int64_t i = 0; i < std::ssize(ends); ++i)
      EXPECT_EQ(ends[static_cast<std::size_t>(i)], std::min<std::int64_t>(1000, (i / 64 + 1) * 64)) << threads;
  }
}

// Whoever waits at the barrier sees what all others wrote before it; a team of more threads than cores gets there too.
TEST(Threads, BarriersOrderWhatIsWritten) {
  constexpr int kRounds = 200;
  for (const int threads : {1, 2, 3, 8, 33}) {
    Team team(threads);
    std::vector<int> written(static_cast<std::size_t>(threads), 0);
    std::atomic<int> wrong = 0;
    for (int run = 0; run < 2; ++run) {
      team.run([&](int part) {
        for (int round = 1; round <= kRounds; ++round) {
          written[static_cast<std::size_t>(part)] = round;
          team.barrier(part);
          for (const int other : written) wrong += other != round;
          team.barrier(part);
        }
      });
    }
    EXPECT_EQ(wrong, 0) << threads;
  }
}

// Who waits long sleeps: the others of a team take no processor time while one of them has to wait.
TEST(Threads, WaitingTakesNoProcessorTime) {
  Team team(2);
  const std::clock_t before = std::clock();  // of all threads of the process
  team.run([](int part) {
    if (part == 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  });
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.1);
}

TEST(Threads, EachTakesWhatOthersLeave) {
  SharedRange range;
  for (int threads = 1; threads <= kMostThreads; ++threads) {
    std::vector<int> seen(1000, 0);
    std::vector<std::int64_t> begins(seen.size(), 0);
    range.reset();
    Team team(threads);
    team.run([&](int) {
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

// References run by blocks, whichever thread takes one, and their sums have a fixed order.
TEST(Threads, AttributeAndAuditHaveOneThreadsFigures) {
  struct Golden {
    const char* model;
    const char* trace;
  };
  for (const Golden& one : {Golden{"kjv", "kjv-f64"}, Golden{"kjv-Q4_K_M.gguf", "kjv-llama-q4_k_m"}}) {
    const ModelFile model(golden_model(one.model));
    const TraceFile trace(golden_trace(one.trace));
    std::string attributed;
    std::string audited;
    for (const int threads : {1, 2, 3, 8}) {
      const auto engine = traced_engine(model, 7, threads);
      const std::string now = attribution_json(attribute({&model, engine.get(), &trace, "", {"genesis"}})).dump();
      AuditRequest request{&model, &trace, "", {"genesis"}, definition_wiring(model.config())};
      request.threads = threads;
      AuditResult result = audit(request);
      result.memory = {};  // that depends on the threads
      if (threads == 1) {
        attributed = now;
        audited = audit_json(result).dump();
      }
      EXPECT_EQ(now, attributed) << one.trace << ", " << threads << " threads";
      EXPECT_EQ(audit_json(result).dump(), audited) << one.trace << ", " << threads << " threads";
    }
  }
}

// As `assay check` does it: of every op a call that is cut among threads, evenly or not, and threads of which each has a call of its own.
TEST(Threads, CallersOfEveryOp) {
  for (const Op* op : ops()) {
    TestCase test = generated_test_case(*op, {.shape = {}, .data = "gauss", .seed = 3});
    ASSERT_EQ(test.status, ASSAY_OK) << op->name;
    Call call(*op, std::move(test.params), std::move(test.inputs));
    InProcess executor(select_kernel(*op->table).run);
    const auto expect_same = [&](const Outcome& together, const Outcome& alone, int callers) {
      EXPECT_EQ(together.violation, "") << op->name;
      for (std::size_t i = 0; i < alone.outputs.size(); ++i)
        EXPECT_EQ(together.outputs[i].bytes, alone.outputs[i].bytes) << op->name << ", " << callers << " callers";
    };
    const Outcome whole = call.run(executor, call.placements().front());
    for (int callers = 2; callers <= kMostThreads; ++callers) {
      for (const Split& split : call.signature().splits) {
        for (const bool uneven : {false, true})
          expect_same(call.run_parts(executor, split, callers, {.at_once = true}, uneven), whole, callers);
      }
      const std::vector<Outcome> alone = call.run_rivals(executor, callers, {});
      const std::vector<Outcome> together = call.run_rivals(executor, callers, {.at_once = true});
      for (std::size_t caller = 0; caller < alone.size(); ++caller) expect_same(together[caller], alone[caller], callers);
    }
  }
}

TEST(Threads, TakeTurnsFastAndLeaveTheCallerAsItWas) {
  const std::uint64_t before = ShortTimeSlices::of_this_thread();
  if (before == 0) GTEST_SKIP() << "this system does not tell a thread's time slice (Linux 6.12)";
  {
    Team team(2);
    std::array<std::uint64_t, 2> slices{};
    team.run([&](int part) { slices[static_cast<std::size_t>(part)] = ShortTimeSlices::of_this_thread(); });
    for (const std::uint64_t slice : slices) EXPECT_EQ(slice, 100'000);
  }
  EXPECT_EQ(ShortTimeSlices::of_this_thread(), before);
}

// Whether each of so many passes was run alone, where one takes so long.
std::string passes(int count, std::chrono::nanoseconds team, std::chrono::nanoseconds alone, bool crowded) {
  AloneWhenCrowded which;
  std::string told;
  for (int pass = 0; pass < count; ++pass) {
    told += which.alone() ? 'a' : 't';
    which.took(which.alone() ? alone : team, crowded);
  }
  return told;
}

using std::literals::operator""ns;

TEST(AloneWhenCrowded, TheCallersWorkTimesThePartsIsHeldToAllThatItTook) {
  EXPECT_FALSE(better_alone(2, 4ns, 10ns));
  EXPECT_TRUE(better_alone(2, 6ns, 10ns));
  EXPECT_FALSE(better_alone(8, 6ns, 10ns));
}

TEST(AloneWhenCrowded, TakesTheFasterWayOnceTheTeamLooksSlow) {
  const std::string rest(16, 't');
  EXPECT_EQ(passes(40, 4ns, 1ns, false), std::string(40, 't'));
  EXPECT_EQ(passes(37, 1ns, 2ns, true), "ta" + rest + "ta" + rest + "t");
  EXPECT_EQ(passes(37, 4ns, 1ns, true), "t" + std::string(18, 'a') + "t" + std::string(17, 'a'));
}

}  // namespace
}  // namespace assay::threads_test
