// What a suite runs: everything that is asked for, and cases that are made.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <set>

#include "golden/atomic_file.h"
#include "harness/verdict/coverage.h"
#include "harness/verdict/op_run.h"
#include "harness/verdict/suite.h"
#include "harness/verdict/vast.h"
#include "kernels/activations/activations.h"
#include "tests/refusals.h"
#include "tests/temporary.h"

namespace assay::suite_test {
namespace {

TEST(Suite, AFileOfAnotherOpHasNoCase) {
  CheckRequest request;
  request.ops = {"rms_norm"};
  request.file = own_golden() / "ops" / "add.h5";
  const SuiteResult result = run_suite(request);
  EXPECT_TRUE(result.cases.empty());
  EXPECT_FALSE(result.passed());
}

TEST(Suite, AnOpWithoutAGoldenIsAFault) {
  const TemporaryFolder data;
  std::filesystem::create_directories(data.path() / "golden" / "ops");
  std::filesystem::copy(own_golden() / "ops" / "add.h5", data.path() / "golden" / "ops");
  std::filesystem::copy(ledger_path(), data.path() / "golden");
  const char* const before = std::getenv("ASSAY_DATA");
  const std::string kept = before == nullptr ? "" : before;
  setenv("ASSAY_DATA", data.path().c_str(), 1);
  CheckRequest request;
  request.ops = {"argmax"};
  const SuiteResult result = run_suite(request);
  before == nullptr ? unsetenv("ASSAY_DATA") : setenv("ASSAY_DATA", kept.c_str(), 1);
  EXPECT_EQ(std::ranges::count(result.faults, "argmax: has no golden"), 1);
}

TEST(Suite, AGoldenThatIsNotTheManifestsIsRefused) {
  const TemporaryFolder golden;
  std::filesystem::create_directories(golden.path() / "ops");
  std::filesystem::copy(own_golden() / "ops" / "argmax.h5", golden.path() / "ops" / "argmax.h5");
  write_file_atomically(golden.path() / "MANIFEST.json", R"({"files": {"ops/argmax.h5": {"sha256": "0"}}})");
  CheckRequest request;
  request.ops = {"argmax"};
  request.golden = golden.path();
  expect_mentions(message_of([&] { run_suite(request); }), {"argmax.h5", "MANIFEST.json says 0"});
}

TEST(Suite, AProcessThatRoundsOtherwiseChecksNothing) {
  CheckRequest request;
  request.ops = {"argmax"};
  std::fesetround(FE_UPWARD);
  const std::string message = message_of([&] { run_suite(request); });
  std::fesetround(FE_TONEAREST);
  expect_mentions(message, {"round"});
}

TEST(Suite, RunsTheCasesThatHaveNoFile) {
  const Op& embed = require_op("embed_f32");
  CheckRequest request;
  request.ops = {embed.name};
  request.isas = {Isa::scalar};
  request.shapes = true;
  request.random_cases = 3;
  request.seed = 5;
  const SuiteResult result = run_suite(request);
  std::set<std::string> names;
  std::set<std::string> drawn;
  for (const CaseResult& one : result.cases) {
    names.insert(one.case_name);
    if (one.case_name.starts_with("random")) drawn.insert(one.params.to_string());
  }
  const auto begin_so = [&](const std::string& words) {
    return std::ranges::count_if(names, [&](const std::string& name) { return name.starts_with(words); });
  };
  for (const Params& params : covering_params(embed)) EXPECT_TRUE(names.contains(params.to_string())) << params.to_string();
  ASSERT_FALSE(vast_params(embed, request.work).empty());
  EXPECT_EQ(begin_so("vast "), std::ssize(vast_params(embed, request.work)));
  for (const char* seed : {"random 5,", "random 6,", "random 7,"}) EXPECT_EQ(begin_so(seed), 1) << seed;
  EXPECT_EQ(begin_so("random"), 3);
  EXPECT_EQ(drawn.size(), 3U);
}

TEST(Suite, LongRowsAreJudgedByTheirBiasToo) {
  CheckRequest request;
  request.ops = {"rms_norm"};
  request.isas = {Isa::scalar};
  request.case_name = "bias";
  request.shapes = true;
  const SuiteResult result = run_suite(request);
  ASSERT_EQ(result.cases.size(), 2U);
  EXPECT_EQ(result.cases[1].case_name, "bias of long rows");
  EXPECT_TRUE(result.cases[1].z.has_value());
}

TEST(Suite, WhatThisCpuOrTheOpLacksIsListed) {
  CheckRequest request;
  request.ops = {"gemm_q4_k_q8_k"};
  request.case_name = "refusals";
  const auto told = [](const SuiteResult& result, const std::string& what) {
    return std::ranges::count(result.skips, what, &Skip::what);
  };
  const SuiteResult all = run_suite(request);
  for (const Variant& one : variants_of(require_op("gemm_q4_k_q8_k")))
    EXPECT_EQ(told(all, one.name), isa_supported(one.isa) ? 0 : 1) << one.name;
  request.ops = {"argmax"};
  request.isas = {Isa::avx512vnni};
  EXPECT_EQ(told(run_suite(request), "argmax"), isa_supported(request.isas.front()) ? 1 : 0);
}

TEST(Suite, RunsEveryCaseOnEveryVariant) {
  for (const auto& [name, seeded] : {std::pair("add", true), std::pair("rope_table", false), std::pair("kv_store_f16", false)}) {
    CheckRequest request;
    request.ops = {name};
    const SuiteResult result = run_suite(request);
    EXPECT_TRUE(result.passed()) << name;
    ASSERT_EQ(result.known.size(), 1U);
    const std::set<std::string> known(result.known.at(name).begin(), result.known.at(name).end());
    std::vector<std::string> kept =
        GoldenFile(own_golden() / "ops" / (std::string(name) + ".h5"), Hdf5Origin::known).case_names();
    if (seeded) kept.emplace_back("bias");
    std::map<std::string, std::set<std::string>> ran;
    std::set<std::string> in_ledger;
    for (const CaseResult& one : result.cases) {
      EXPECT_TRUE(ran[one.variant].insert(one.case_name).second) << one.variant << " " << one.case_name;
      if (one.in_ledger) in_ledger.insert(one.case_name);
    }
    for (const std::string& one : kept) EXPECT_TRUE(known.contains(one) && in_ledger.contains(one)) << name << " " << one;
    std::set<std::string> skipped;
    for (const Skip& skip : result.skips) skipped.insert(skip.what);
    for (const Variant& variant : variants_of(require_op(name))) {
      const bool runs = isa_supported(variant.isa);
      EXPECT_EQ(ran[variant.name], runs ? known : std::set<std::string>()) << variant.name;
      EXPECT_EQ(skipped.contains(variant.name), !runs) << variant.name;
    }
  }
}

TEST(Suite, RunsWhatIsAskedForAlone) {
  CheckRequest request;
  request.ops = {"argmax"};
  request.isas = {Isa::scalar};
  for (const CaseResult& one : run_suite(request).cases) EXPECT_EQ(one.variant, "argmax_scalar");
  request.generated = GeneratedRequest{{}, "gauss", 7};
  request.generated_cases = 5;
  const SuiteResult made = run_suite(request);
  std::set<std::uint64_t> seeds;
  for (const CaseResult& one : made.cases) seeds.insert(*one.seed);
  EXPECT_EQ(seeds, (std::set<std::uint64_t>{7, 8, 9, 10, 11}));
  request.ops.clear();
  request.generated_cases = 1;
  request.checks = Checks::parse("classes,bound,exact");  // one call each
  std::set<std::string> ops;
  for (const CaseResult& one : run_suite(request).cases) ops.insert(one.op);
  EXPECT_EQ(ops.size(), op_names().size());
}

TEST(Suite, NothingComparedOrTrustedIsAFault) {
  const auto faults = [](VariantTally tally, bool expected) { return tally_faults({{"v", tally}}, expected, {}).size(); };
  EXPECT_EQ(faults({10, 1}, true), 0U);
  EXPECT_EQ(faults({10, 0}, true), 1U);
  EXPECT_EQ(faults({10, 0}, false), 0U);
  EXPECT_EQ(faults({0, 1}, true), 1U);
  SuiteResult result;
  result.cases.emplace_back();
  EXPECT_TRUE(result.passed());
  result.faults = {"nothing"};
  EXPECT_FALSE(result.passed());
  result.faults.clear();
  for (const Verdict verdict : {Verdict::fail, Verdict::mistrusted}) {
    result.cases.emplace_back().verdict = verdict;
    EXPECT_FALSE(result.passed());
    result.cases.pop_back();
  }
}

std::array<std::atomic<int>, 256> calls_of_length;

AssayStatus counted(const void* args) {
  static const auto exp = find_op("exp")->kernels().back().run;
  const std::int64_t n = static_cast<const ExpArgs*>(args)->n;
  if (n >= 0 && n < std::ssize(calls_of_length)) ++calls_of_length[static_cast<std::size_t>(n)];
  return exp(args);
}

// That many calls take least.
TEST(Suite, TheSmallestCaseIsCalledThousandsOfTimes) {
  const Op& op = require_op("exp");
  InProcess executor(counted);
  const std::vector<Candidate> candidates{{.name = "counted", .selection = "", .executor = &executor}};
  std::vector<Source> sources;
  for (const std::int64_t n : {100, 70, 200}) {
    sources.emplace_back([&op, n] { return generated_test_case(op, {{{"n", n}}, "gauss", 1}); });
  }
  run_cases({op, candidates, Checks::all(), nullptr, guard_page_bytes(), 1, true, [](CaseResult&) {}}, sources);
  EXPECT_GT(calls_of_length[70], 4 * (calls_of_length[100] + calls_of_length[200]));
}

// Of many made cases: sizes beside vector widths and others, small and large; gaps and none; each choice.
TEST(MadeCases, DrawWhatTheirShapesAllow) {
  const std::set<std::int64_t> edges{2, 8, 10, 16, 18, 32, 34, 64, 66, 128, 130};  // of the even ones
  constexpr int kCases = 300;
  std::set<std::int64_t> widths;
  std::set<std::string> pairings;
  int at_edges = 0;
  int gaps = 0;
  for (int seed = 1; seed <= kCases; ++seed) {
    const Params params = generated_test_case(require_op("rope"), {{}, "gauss", static_cast<std::uint64_t>(seed)}).params;
    const std::int64_t width = params.integer("head_dim");
    widths.insert(width);
    at_edges += edges.contains(width) ? 1 : 0;
    gaps += params.has("x_head_stride") && params.integer("x_head_stride") > width ? 1 : 0;
    pairings.insert(params.text("pairing"));
  }
  EXPECT_GT(widths.size(), 40U);
  EXPECT_GT(*widths.rbegin(), 140);
  EXPECT_GT(at_edges, kCases / 4);
  EXPECT_LT(at_edges, kCases * 9 / 10);
  EXPECT_GT(gaps, kCases / 4);
  EXPECT_LT(gaps, kCases * 3 / 4);
  EXPECT_EQ(pairings.size(), 3U);
}

CheckRequest random_cases(std::int64_t count) {
  CheckRequest request;
  request.ops = {"argmax"};
  request.variant = "argmax_scalar";
  request.case_name = "random";
  request.random_cases = count;
  return request;
}

TEST(MadeCases, EachHasASeedOfItsOwn) {
  std::set<std::uint64_t> seeds;
  for (const CaseResult& one : run_suite(random_cases(40)).cases) seeds.insert(one.seed.value_or(0));
  EXPECT_EQ(seeds.size(), 40U);
}

TEST(MadeCases, OneThatFailedIsMadeAgain) {
  CheckRequest request = random_cases(5);
  const std::string name = run_suite(request).cases.at(3).case_name;
  request.case_name.clear();
  request.only["argmax"] = {{"argmax_scalar"}, {name}};
  const std::vector<CaseResult> again = run_suite(request).cases;
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].case_name, name);
}

// As it was drawn: longer where long ones are.
TEST(MadeCases, AreRepeatedByTheirSeed) {
  const Op& add = require_op("add");
  EXPECT_EQ(random_test_case(add, 7, kRandomWork).repro, "--case random --seed 7 --cases 1");
  EXPECT_EQ(random_test_case(add, 7, kLongWork).repro, "--case random --seed 7 --cases 1 --long");
}

TEST(MadeCases, HoldTheDataAskedFor) {
  const auto inputs = [](const char* op, const Params& shape, const char* data) {
    return generated_test_case(require_op(op), {shape, data, 3}).inputs;
  };
  const Params shape{{"n", std::int64_t{256}}};
  const std::vector<Array> wide = inputs("add", shape, "wide");
  EXPECT_NE(wide[0].bytes, wide[1].bytes) << "each input has numbers of its own";
  const auto any = [](const Array& array, const auto& what) {
    return std::any_of(array.as<float>(), array.as<float>() + array.elements(), what);
  };
  EXPECT_TRUE(any(wide[0], [](float x) { return std::fabs(x) > 0x1p18F; }));
  const std::vector<Array> denormal = inputs("add", shape, "denormal");
  EXPECT_FALSE(any(denormal[0], [](float x) { return std::fabs(x) >= 0x1p-126F; }));
  EXPECT_TRUE(any(denormal[0], [](float x) { return x != 0; }));
  const auto product = [&](float x, const std::vector<Array>& of) { return x * of[1].as<float>()[0]; };
  const std::vector<Array> underflow = inputs("add", shape, "underflow");
  EXPECT_FALSE(any(underflow[0], [&](float x) { return x == 0 || std::fabs(product(x, underflow)) >= 0x1p-126F; }));
  const Array halves = inputs("matvec_f16", {{"n", std::int64_t{32}}, {"k", std::int64_t{64}}}, "underflow")[0];
  for (std::int64_t i = 0; i < halves.elements(); ++i)
    EXPECT_LT(std::fabs(element_as_double(DType::f16, &halves.bytes[static_cast<std::size_t>(2 * i)])), 0x1p-14);
  EXPECT_TRUE(any(inputs("add", {{"n", std::int64_t{4096}}}, "bits")[0], [](float x) { return std::isnan(x); }));
  const std::vector<Array> packed = inputs("gemv_q8_0_x16_q8_0", {{"n", std::int64_t{48}}, {"k", std::int64_t{64}}}, "gauss");
  const std::vector<std::uint8_t>& weights = packed[0].bytes;
  EXPECT_LT(std::count(weights.begin(), weights.end(), 0), std::ssize(weights) / 8);
  const std::vector<std::uint8_t>& x = packed[1].bytes;
  for (std::size_t block = 0; block < x.size(); block += 34) EXPECT_EQ(std::count(&x[block + 2], &x[block] + 34, 0x80), 0);
}

}  // namespace
}  // namespace assay::suite_test
