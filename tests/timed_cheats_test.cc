// Kernels that cheat on the clock (tests/cheats/timed.cc): none gets a time for wrong or unfinished work, each is named, and this process goes on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include "harness/interop/remote/timed_runner.h"
#include "harness/verdict/bench/bench.h"
#include "harness/verdict/bench/timed_case.h"
#include "harness/verdict/clock.h"
#include "harness/verdict/discipline/sanitized.h"
#include "harness/verdict/draw.h"
#include "harness/verdict/suite.h"

namespace assay::timed_cheats_test {
namespace {

struct Cheat {
  const char* kernel;
  const char* words;  // of its failure
};

constexpr const char* kOtherBytes = "wrote other bytes to y than the same call untimed";
constexpr Cheat kCheats[] = {
    {"nothing", kOtherBytes},
    {"half", kOtherBytes},
    {"half_and_zeros", "a timed call is wrong (bound): y["},
    {"last_alone", "a timed call is wrong (bound): y[6006]"},
    {"by_content", "a timed call is wrong (bound): y["},
    {"by_counter", kOtherBytes},
    {"second_batch", kOtherBytes},
    {"replays_by_pointer", kOtherBytes},
    {"replays_always", "a timed call is wrong (bound): y["},
    {"coarse", "a timed call is wrong (bound): y["},
    {"decoys", "a timed call is wrong (bound): y["},
    {"crashes", "raised SIGSEGV at address 0x0"},
    {"hangs", "gave no answer within 1 s (--time-limit): an endless loop?"},
    {"hangs_without_alarm", "gave no answer within 1 s (--time-limit): an endless loop?"},
    {"leaves", "the runner exited with status 0"},
    {"refuses", "refused a timed call"},
    {"no_status", "returned 1296911693, which is no AssayStatus"},
    {"closes_everything", "wrote other bytes to y"},
#if defined(__x86_64__)
    {"flushes", "left another floating-point environment behind"},
#endif
    {"says_done", ""},
    {"skips_laps", "wrote other bytes than the same calls untimed"},
    {"forges", ""},
    {"later", ""},
};

std::string library(int constructor) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / fmt::format("timed_cheats_{}.so", constructor))
      .string();
}

// What is timed, and by which library.
struct What {
  int constructor = 0;
  const char* op = "add";
  Params params{{"n", std::int64_t{6007}}};
  int baseline = -1;       // the library of an older plugin
  const Op* of = nullptr;  // instead of `op`
};

bench::BenchResult timed(const std::string& kernel, bench::Temperature temperature, const What& what = {}) {
  bench::assume_cache_bytes(std::size_t{32} << 20);
  const RunnerOptions runner{.command = "", .plugins = {library(what.constructor)}, .limit = std::chrono::seconds(1)};
  bench::BenchOptions options;
  options.gate = [](const Op&, const Variant&, std::string&) { return true; };
  options.runner = runner;
  options.rounds = 8;
  if (what.baseline >= 0) {
    options.old_runner = runner;
    options.old_runner->plugins = {library(what.baseline)};
    options.old_kernels = RemoteRunner(*options.old_runner).kernels();
  }
  const Op& op = what.of != nullptr ? *what.of : require_op(what.op);
  std::vector<Variant> variants = variants_of(op, RemoteRunner(runner).kernels());
  std::erase_if(variants, [&](const Variant& one) { return one.name != "cheat:" + kernel; });
  return bench::run_benchmarks(bench::bench_items(op, variants, std::nullopt, what.params, {temperature}), options).at(0);
}

// Of the op's benchmarks the one that costs least.
Params cheapest(const Op& op) {
  return std::ranges::min(op.family->bench_params(op), {}, [&](const Params& params) { return work_of(op, params); });
}

TEST(TimedCheats, NoneGetsATime) {
#if ASSAY_SANITIZED
  GTEST_SKIP() << "a sanitizer's runner ends in its own way, and has other times";
#endif
  for (const Cheat& one : kCheats) {
    const bench::BenchResult result = timed(one.kernel, bench::Temperature::warm);
    EXPECT_FALSE(result.timed()) << one.kernel;
    EXPECT_NE(result.failure.find(one.words), std::string::npos) << one.kernel << ": " << result.failure << result.refusal;
  }
}

TEST(TimedCheats, NorCold) {
  for (const char* kernel : {"nothing", "half", "replays_always", "by_content"})
    EXPECT_FALSE(timed(kernel, bench::Temperature::cold).timed()) << kernel;
}

TEST(TimedCheats, HonestOnesDo) {
  for (const char* kernel : {"honest", "honest_bounded"}) {
    for (const bench::Temperature temperature : {bench::Temperature::cold, bench::Temperature::warm}) {
      const bench::BenchResult result = timed(kernel, temperature);
      EXPECT_TRUE(result.timed()) << kernel << ": " << result.failure << result.refusal;
      EXPECT_GT(result.speed, 0) << kernel;
    }
  }
}

TEST(TimedCheats, WhatNoMachineCanDoIsNoTime) {
  bench::BenchResult result;
  result.cost = {.bytes = 40e9, .flops = 200e9};
  result.seconds = 1;
  result.read = bench::Rounds::Ratio{1, 38, "loop"};
  result.compute = bench::Rounds::Ratio{1, 190, "peak"};
  EXPECT_EQ(bench::impossible(result, 39, 195), "");
  EXPECT_NE(bench::impossible(result, 37, 195).find("impossible: it would have read 40.0 GB/s"), std::string::npos);
  EXPECT_NE(bench::impossible(result, 39, 120).find("impossible: 200.0 Gop/s; the peak is 120.0"), std::string::npos);
  result.read = std::nullopt;
  EXPECT_EQ(bench::impossible(result, 0, 195), "") << "a warm kernel need not read memory";
}

// As if it had a million times the work.
Cost of_a_million(const Op& op, const Params& params, const void* args) {
  Cost cost = require_op("add").family->cost(op, params, args);
  cost.flops *= 1e6;
  return cost;
}

TEST(TimedCheats, AboveThePeakIsNoTime) {
  Family family = *require_op("add").family;
  family.cost = of_a_million;
  Op op = require_op("add");
  op.family = &family;
  for (const bench::Temperature temperature : {bench::Temperature::cold, bench::Temperature::warm}) {
    const std::string failure = timed("honest", temperature, {.of = &op}).failure;
    EXPECT_NE(failure.find("Gop/s; the peak is"), std::string::npos) << failure;
  }
}

// The first, in which a library may set itself up, is never the only one.
TEST(TimedCheats, ThreeRoundsHoweverLongTheyTake) {
  const Op& op = require_op("add");
  bench::BenchOptions options;
  options.gate = [](const Op&, const Variant&, std::string&) { return true; };
  options.most_seconds = 0;
  const auto items = bench::bench_items(op, {variants_of(op).back()}, std::nullopt, cheapest(op), {bench::Temperature::warm});
  EXPECT_EQ(bench::run_benchmarks(items, options).at(0).rounds, 3);
}

// Our own kernels, as if they were a stranger's.
TEST(TimedCheats, EveryFamilyHasItsTime) {
  bench::BenchOptions options;
  options.gate = [](const Op&, const Variant&, std::string&) { return true; };
  options.runner = RunnerOptions{};
  options.rounds = 1;
  std::vector<bench::BenchItem> items;
  std::set<const Family*> families;
  for (const Op* op : ops()) {
    if (!families.insert(op->family).second) continue;
    const AnyKernel& best = select_kernel(*op->table, std::nullopt);
    const Variant variant{.name = best.name, .isa = best.isa, .foreign = true};
    items.push_back({op, variant, cheapest(*op), bench::Temperature::warm});
  }
  for (const bench::BenchResult& one : bench::run_benchmarks(items, options))
    EXPECT_TRUE(one.timed()) << one.name << ": " << one.failure << one.refusal;
}

TEST(TimedCheats, WorkOnAnotherThreadCounts) {
  const double honest = timed("honest", bench::Temperature::warm).seconds;
  const bench::BenchResult result = timed("other_thread", bench::Temperature::warm);
  EXPECT_TRUE(result.timed()) << result.failure << result.refusal;
  EXPECT_GT(result.seconds, 10 * honest);
}

// 20 ms of work, which is not timed if it can be done at another time.
TEST(TimedCheats, WorkAheadCounts) {
  const What by_signals{.constructor = 1};
  const What by_the_c_library{.constructor = 3};
  const What by_packing{.op = "matvec_f32", .params = Params{{"n", std::int64_t{64}}, {"k", std::int64_t{64}}}};
  for (const bench::Temperature temperature : {bench::Temperature::warm, bench::Temperature::cold}) {
    for (const auto& [kernel, what] : {std::pair("ahead", by_signals), std::pair("ahead", by_the_c_library),
                                       std::pair("packs_ahead", by_packing), std::pair("quick_once", What{})}) {
      const bench::BenchResult result = timed(kernel, temperature, what);
      EXPECT_TRUE(result.timed()) << kernel << ": " << result.failure << result.refusal;
      EXPECT_GE(result.seconds, 0.0199) << kernel << ", library " << what.constructor;
    }
  }
}

// No number, and no place's, comes again.
TEST(TimedCheats, WhatIsRememberedIsOfNoUse) {
  const What what{.op = "exp", .params = Params{{"n", std::int64_t{3072}}}};
  for (const bench::Temperature temperature : {bench::Temperature::warm, bench::Temperature::cold}) {
    const bench::BenchResult plain = timed("honest", temperature, what);  // which is a kernel of add too
    EXPECT_TRUE(plain.timed()) << plain.failure << plain.refusal;
    for (const char* kernel : {"remembers_numbers", "remembers_places"}) {
      const bench::BenchResult result = timed(kernel, temperature, what);
      EXPECT_TRUE(result.timed()) << kernel << ": " << result.failure << result.refusal;
      EXPECT_GT(result.seconds, 0.7 * plain.seconds) << kernel;
    }
  }
}

// No median shows their work.
TEST(TimedCheats, ACallThatWorksForOthersIsNamed) {
  const bench::BenchResult result = timed("works_for_others", bench::Temperature::cold);
  EXPECT_NE(result.failure.find("some do the work of others"), std::string::npos) << result.failure << result.refusal;
  const bench::BenchResult once = timed("stumbles_once", bench::Temperature::cold);
  EXPECT_TRUE(once.timed()) << once.failure << once.refusal;
}

// Inside the bound.
TEST(TimedCheats, NarrowWeightsAreNoTime) {
  const What what{.op = "matvec_f32", .params = Params{{"n", std::int64_t{32}}, {"k", std::int64_t{16384}}}};
  const bench::BenchResult result = timed("packs_narrow", bench::Temperature::warm, what);
  EXPECT_NE(result.failure.find("a timed call is wrong (spread): errors are "), std::string::npos)
      << result.failure << result.refusal;
}

// A thread of its own is busy whenever it may be: others may be timed while it must not, and while memory is filled it may work ahead.
TEST(TimedCheats, WhoIsNotTimedStandsStill) {
  const bench::TimedCase timed(require_op("add"), Params{{"n", std::int64_t{6007}}}, bench::Temperature::warm, "");
  TimedRunner runner({.command = "", .plugins = {library(0)}}, "add", "cheat:spins_between", timed.request(timed.slots()));
  const auto seconds_after = [&](auto&& between) {
    runner.fill({.seeds = {1, 2}});
    between();
    return runner.run({.count = 2}).cpu;
  };
  seconds_after([] {});
  EXPECT_LT(seconds_after([] { std::this_thread::sleep_for(std::chrono::milliseconds(500)); }), 0.4);
  const auto fills = [&] {
    for (const double end = wall_seconds() + 2; wall_seconds() < end;) runner.fill({.seeds = {1, 2}});
  };
  EXPECT_GT(seconds_after(fills), 0.4);
}

TEST(TimedCheats, ABaselineThatCheatsIsNamed) {
  const bench::BenchResult result = timed("honest", bench::Temperature::warm, {.baseline = 2});
  EXPECT_FALSE(result.timed());
  EXPECT_NE(result.failure.find("the baseline's cheat:honest: "), std::string::npos) << result.failure << result.refusal;
  EXPECT_NE(result.failure.find(kOtherBytes), std::string::npos) << result.failure;
  EXPECT_TRUE(timed("honest", bench::Temperature::warm, {.baseline = 0}).timed());
}

TEST(TimedCheats, ABusyThreadIsNotTakenOff) {
  const bench::BenchResult result = timed("spins_between", bench::Temperature::warm);
  EXPECT_TRUE(result.timed()) << result.failure << result.refusal;
  EXPECT_GE(result.seconds, 0.02);
  EXPECT_GE(result.wall_seconds, 0.02);
}

}  // namespace
}  // namespace assay::timed_cheats_test
