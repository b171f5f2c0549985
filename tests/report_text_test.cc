// What is said of a run: nothing that was found is left out, in text or in JSON.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include "harness/reports/failures.h"
#include "harness/reports/report.h"
#include "harness/reports/suite_text.h"

namespace assay::report_text_test {
namespace {

CaseResult case_of(const std::string& name, Verdict verdict) {
  CaseResult one;
  one.op = "add";
  one.variant = "add_scalar";
  one.case_name = name;
  one.verdict = verdict;
  one.compared = 10;
  one.repro = "assay check add --case " + name;
  one.digest = "d";
  return one;
}

// One case that passes, with large margin and spread; one refusal; one that is mistrusted; one that fails.
SuiteResult suite() {
  SuiteResult result;
  result.cases = {case_of("good", Verdict::pass), case_of("refused", Verdict::pass), case_of("blind", Verdict::mistrusted),
                  case_of("bad", Verdict::fail)};
  result.cases[0].margin = 0.75;
  result.cases[0].spread = 1.5;
  result.cases[1].refusal = true;
  result.cases[1].spread = 0.5;
  result.cases[3].margin = 0.5;
  result.cases[3].failure = Failure{Check::bound, "y[3] = 1"};
  result.faults = {"exp: has no golden"};
  result.skips = {{"add_avx512", "this CPU lacks avx512"}};
  result.known = {{"add", {"good", "refused", "blind", "bad"}}};
  return result;
}

std::string text_of(const SuiteResult& result, const Checks& checks = Checks::all()) {
  return suite_table(result, checks, Style::plain());
}

void expect_in(const std::string& text, const std::string& words, bool there = true) {
  EXPECT_EQ(text.find(words) != std::string::npos, there) << words << "\n" << text;
}

TEST(ReportText, HoldsEverythingThatWasFound) {
  const std::string text = text_of(suite(), Checks::parse("bound,guard"));
  for (const char* words :
       {"FAIL add_scalar, case bad: bound\n  y[3] = 1\n  repeat: assay check add --case bad\n",
        "MISTRUSTED add_scalar, case blind", "repeat: assay check add --case blind", "FAIL exp: has no golden\n",
        "skipped add_avx512: this CPU lacks avx512\n", "checks off classes,bias,spread,exact,bits,ledger\n", "1 variant, 4 cases",
        "40 outputs held to truth", "1 refusal, 0 trivial, 4 not in the ledger, 1 mistrusted, 1 failed\nFAIL\n", "0.750", "1.5",
        "FAIL 1\n"}) {
    expect_in(text, words);
  }
  expect_in(text, "PASS", false);
  expect_in(text_of(suite()), "checks off", false);
}

TEST(ReportText, ARowIsAsBadAsItsWorstCase) {
  SuiteResult result = suite();
  result.faults.clear();
  result.cases.pop_back();
  expect_in(text_of(result), "MISTRUSTED 1\n");
  expect_in(text_of(result), "1 mistrusted, 0 failed\nFAIL\n");
  result.cases.pop_back();
  expect_in(text_of(result), "0 mistrusted, 0 failed\nPASS\n");
  result.faults = {"exp: has no golden"};
  expect_in(text_of(result), "0 failed\nFAIL\n");
}

// A thousand that differ in their numbers alone, and a hundred kinds: the screen has room for neither, the JSON for all.
TEST(ReportText, ManyFailuresFitOnAScreen) {
  for (const int kinds : {1, 100}) {
    SuiteResult result;
    for (int i = 0; i < 1000; ++i) {
      CaseResult one = case_of("case_" + std::to_string(i), Verdict::fail);
      one.variant = "add_" + std::to_string(i % kinds);
      one.failure = Failure{Check::bound, "y[" + std::to_string(i) + ", 0] = 0x41fffdaa (1.5e-05), expected -nan; margin 206.4"};
      result.cases.push_back(one);
    }
    for (int i = 0; i < 200; ++i) result.skips.push_back({"add_" + std::to_string(i), "this CPU lacks avx512"});
    const std::string text = suite_end(result, Checks::all(), Style::plain(), {});
    EXPECT_LT(std::ranges::count(text, '\n'), kinds == 1 ? 20 : 60) << text;
    expect_in(text, "1000 failed: 1000 bound\n");
    expect_in(text, "FAIL add_0, case case_0: bound\n");
    expect_in(text, "  and 999 more like it: case_1, case_2, case_3, ...\n", kinds == 1);
    expect_in(text, "950 cases more fail, of 95 other kinds", kinds == 100);
    expect_in(text, "skipped 200 kernels (add_0, add_1, add_2, ...): this CPU lacks avx512\n");
    EXPECT_EQ(suite_json(result, {}).at("cases").size(), 1000U);
    const std::string all = suite_end(result, Checks::all(), Style::plain(), {Detail::Level::verbose});
    expect_in(all, "case case_999: bound");
    expect_in(all, "skipped add_199: this CPU lacks avx512\n");
    const std::string few = suite_end(result, Checks::all(), Style::plain(), {Detail::Level::quiet, 1});
    expect_in(few, "skipped", false);
    expect_in(few, "FAIL add_1, case", false);
  }
}

TEST(ReportText, NumbersMakeNoOtherKindOfFailure) {
  EXPECT_EQ(without_numbers("y[3, 0] = 0x41fffdaa (2.5e-07), expected nan; q4_k 8 ulp"), "y[#] = # (#), expected #; q4_k # ulp");
  EXPECT_EQ(without_numbers("rows = -1: touched x"), "rows = #: touched x");
  EXPECT_EQ(without_numbers("-inf at avx512"), "# at avx512");
}

TEST(ReportJson, HoldsEverythingThatWasFound) {
  SuiteResult result = suite();
  result.cases[3].margin = std::numeric_limits<double>::infinity();
  const nlohmann::ordered_json json = suite_json(result, {});
  EXPECT_EQ(json.at("passed"), false);
  const char* const verdicts[] = {"pass", "pass", "mistrusted", "fail"};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(json.at("cases").at(i).at("verdict"), verdicts[i]);
  const auto& bad = json.at("cases").at(3);
  EXPECT_EQ(bad.at("failure").at("check"), "bound");
  EXPECT_EQ(bad.at("failure").at("message"), "y[3] = 1");
  EXPECT_TRUE(bad.at("margin").is_null()) << "infinite";
  EXPECT_EQ(bad.at("repro"), "assay check add --case bad");
  EXPECT_EQ(json.at("faults").at(0), "exp: has no golden");
  EXPECT_EQ(json.at("skipped").at(0).at("what"), "add_avx512");
  EXPECT_EQ(json.at("known").at("add").size(), 4U);
  result.faults.clear();
  result.cases.resize(2);
  EXPECT_EQ(suite_json(result, {}).at("passed"), true);
}

}  // namespace
}  // namespace assay::report_text_test
