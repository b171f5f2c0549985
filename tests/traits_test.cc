// What a library may honestly do is declared (tests/plugins/traits.cc): undeclared it fails, declared it passes and is listed, and more than
// what is declared fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/interop/plugin/loader.h"
#include "harness/reports/report.h"
#include "harness/reports/suite_text.h"
#include "harness/verdict/discipline/sanitized.h"
#include "harness/verdict/suite.h"
#include "tests/refusals.h"

namespace assay::traits_test {
namespace {

CheckRequest request(const std::string& kernel, const std::string& data = "gauss") {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  CheckRequest request;
  request.ops = {"rms_norm"};
  request.generated = GeneratedRequest{{{"rows", std::int64_t{5}}, {"n", std::int64_t{40}}}, data, 1};
  request.variant = "traits:" + kernel;
  request.runner = RunnerOptions{"", {(folder / "traits_plugin.so").string()}, std::chrono::minutes(1)};
  return request;
}

// "guard: touched 1 bytes past ..."; empty: it passed.
std::string failure_of(const CheckRequest& asked) {
  const SuiteResult result = run_suite(asked);
  for (const CaseResult& one : result.cases) {
    if (one.failure) return std::string(check_name(one.failure->check)) + ": " + one.failure->message;
  }
  return result.passed() ? "" : "no case";
}

// "over-read=16", with a ? behind it where it was not seen.
std::vector<std::string> traits_of(const SuiteResult& result) {
  std::vector<std::string> all;
  for (const DeclaredTrait& one : result.traits) all.push_back(one.key + "=" + one.value + (one.seen ? "" : "?"));
  return all;
}

using Texts = std::vector<std::string>;

TEST(Traits, AnOverReadIsAllowedAsFarAsItIsDeclared) {
  expect_mentions(failure_of(request("over_read")), {"guard: touched 1 bytes past the end of w (guard page), placed"});
  EXPECT_EQ(failure_of(request("over_read_declared")), "");
  CheckRequest by_processes = request("over_read_declared");
  by_processes.jobs = 2;
  for (const CheckRequest& asked : {request("over_read_declared"), by_processes})
    EXPECT_EQ(traits_of(run_suite(asked)), Texts{"over-read=16"}) << asked.jobs;
  expect_mentions(failure_of(request("over_read_more")),
                  {"guard: touched 17 bytes past the end of w (guard page; over-read=16 is declared)"});
}

TEST(Traits, WhatIsReadPastAnInputIsNotUsedAndNotWritten) {
  const std::string used = failure_of(request("over_read_used"));
  EXPECT_TRUE(used.find("bound: ") == 0 || used.find("bits: ") == 0) << used;
  expect_mentions(failure_of(request("over_written")), {"guard: ", "past the end of w"});
}

TEST(Traits, BitsMayDependOnTheCutWhereThatIsDeclared) {
  expect_mentions(failure_of(request("batch")), {"bits: not batch invariant"});
  EXPECT_EQ(failure_of(request("batch_declared")), "");
  const SuiteResult result = run_suite(request("batch_declared"));
  EXPECT_EQ(traits_of(result), Texts{"batch-invariant=no"});
  EXPECT_EQ(result.cases.at(0).stability, "stable");
  expect_mentions(failure_of(request("batch_wrong")), {"bound: y[", "cut"});
  expect_mentions(failure_of(request("batch_random")), {"bits: not deterministic"});
}

TEST(Traits, BitsMayDependOnTheAddressWhereThatIsDeclared) {
  expect_mentions(failure_of(request("address")), {"bits: depends on its placement"});
  EXPECT_EQ(failure_of(request("address_declared")), "");
  EXPECT_EQ(traits_of(run_suite(request("address_declared"))), Texts{"placement-invariant=no"});
  CheckRequest goldens = request("address_declared");  // refusals among them, which have no outputs
  goldens.generated.reset();
  EXPECT_EQ(failure_of(goldens), "");
  expect_mentions(failure_of(request("address_wrong")), {"bound: y[", "when placed"});
  expect_mentions(failure_of(request("address_remembers")), {"bound: y[", "where other data lay before"});
}

TEST(Traits, ThreadsOfItsOwn) {
#if ASSAY_SANITIZED
  GTEST_SKIP() << "a sanitizer has a pthread_create of its own";
#endif
  for (const char* kernel : {"thread", "thread_allocates"})
    expect_mentions(failure_of(request(kernel)), {"guard: started threads of its own, 1: "});
  EXPECT_EQ(failure_of(request("thread_declared")), "");
  EXPECT_EQ(traits_of(run_suite(request("thread_declared"))), Texts{"threads=own"});
}

TEST(Traits, CasesOutsideTheDomainAreNotAskedAndListed) {
  CheckRequest asked = request("nan");
  asked.generated.reset();
  expect_mentions(failure_of(asked), {"classes: y["});
  asked.variant = "traits:nan_declared";
  const SuiteResult result = run_suite(asked);
  EXPECT_TRUE(result.passed());
  EXPECT_EQ(traits_of(result), Texts{"nan=no"});
  ASSERT_EQ(result.skips.size(), 1U);
  EXPECT_EQ(result.skips[0].what, "rms_norm traits:nan_declared");
  expect_mentions(result.skips[0].why, {"not asked of ", " cases that hold NaN or infinity (nan=no): ", "nonfinite"});
  for (const CaseResult& one : result.cases) EXPECT_NE(one.case_name, "nonfinite");
}

TEST(Traits, OneNaNOrInfinityIsOutsideTheDomain) {
  Candidate candidate{.name = "", .selection = "", .executor = nullptr};
  candidate.traits = Traits::parse("nan=no;");
  TestCase test;
  Array& input = test.inputs.emplace_back();
  input.dtype = DType::f16;
  input.shape = {3};
  for (const auto& [bits, inside] :
       {std::pair<std::uint16_t, bool>(0x7bff, true), {0x7c00, false}, {0xfc00, false}, {0x7e01, false}}) {
    const std::uint16_t halves[] = {0, 0x3c00, bits};
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(halves);
    input.bytes.assign(bytes, bytes + sizeof halves);
    EXPECT_EQ(takes(candidate, test), inside) << bits;
  }
  candidate.traits = {};
  EXPECT_TRUE(takes(candidate, test));
}

TEST(Traits, WhatIsNeverSeenIsListedAsThat) {
  CheckRequest asked = request("idle");
  asked.generated.reset();
  const SuiteResult result = run_suite(asked);
  EXPECT_TRUE(result.passed());
  EXPECT_EQ(traits_of(result), (Texts{"batch-invariant=no?", "nan=no?", "over-read=16?", "threads=own?"}));
  expect_mentions(
      suite_table(result, Checks::all(), Style::plain()),
      {"rms_norm traits:idle declares batch-invariant=no (not seen), nan=no (not seen), over-read=16 (not seen), threads=own "
       "(not seen)\n"});
  const auto json = suite_json(result, asked);
  EXPECT_EQ(json["traits"][2].dump(), R"({"variant":"rms_norm traits:idle","trait":"over-read","value":"16","seen":false})");
}

// An answer learnt by heart passes the op's own bias case: a plugin gets one of this run's seed besides.
TEST(Traits, PluginsGetABiasCaseOfTheRunsSeed) {
  CheckRequest asked = request("idle");
  asked.generated.reset();
  asked.case_name = "bias";
  asked.seed = 77;
  const SuiteResult result = run_suite(asked);
  EXPECT_TRUE(result.passed());
  ASSERT_EQ(result.cases.size(), 2U);
  EXPECT_EQ(result.seed, 77U);
  EXPECT_EQ(result.cases[0].case_name, "bias");
  EXPECT_EQ(result.cases[1].case_name, "bias 77");
  EXPECT_NE(result.cases[0].z, result.cases[1].z);
  EXPECT_NE(result.cases[1].repro.find("--case bias --seed 77"), std::string::npos) << result.cases[1].repro;
  const Op& op = require_op("rms_norm");
  EXPECT_NE(bias_test_case(op)->inputs[0].bytes, bias_test_case(op, 77)->inputs[0].bytes);
}

TEST(Traits, FailuresBeginWithTheirCountsByCheck) {
  CheckRequest asked = request("over_read");
  asked.generated_cases = 3;
  const SuiteResult result = run_suite(asked);
  const std::string table = suite_table(result, Checks::all(), Style::plain());
  const auto counts = table.find("3 failed: 3 guard\n");
  ASSERT_NE(counts, std::string::npos) << table;
  EXPECT_LT(counts, table.find("touched 1 bytes")) << table;
  EXPECT_EQ(suite_json(result, asked)["failed"].dump(), R"({"guard":3})");
}

TEST(Traits, ValuesThatMakeNoSense) {
  const auto refusal = [](const char* text) { return message_of<std::invalid_argument>([text] { Traits::parse(text); }); };
  for (const char* number : {"0", "4097", "-1", "16 bytes", "0x10", "1e3", "99999999999999999999"}) {
    EXPECT_EQ(refusal(("over-read=" + std::string(number) + ";").c_str()),
              "over-read is '" + std::string(number) + "'; expected 1 to 4096 bytes, or that the key is left out");
  }
  EXPECT_EQ(refusal("batch-invariant=yes;"), "batch-invariant is 'yes'; expected no, or that the key is left out");
  EXPECT_EQ(refusal("threads=4;"), "threads is '4'; expected own, or that the key is left out");
  EXPECT_EQ(refusal("nan=any;"), "nan is 'any'; expected no, or that the key is left out");
  EXPECT_EQ(Traits::parse("overread=16;").words().at("overread"), "16");  // no trait: for who knows the op (declared_test)
  EXPECT_EQ(Traits::parse("over-read=4096;").over_read(), 4096U);
  EXPECT_EQ(Traits::parse(nullptr), Traits());
}

}  // namespace
}  // namespace assay::traits_test
