// assay explain: kernels that compute one thing else than their op are told by it, and by nothing else; one that is wrong by chance is told as none.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "harness/forensics/explain/condition.h"
#include "harness/forensics/explain/hypothesis.h"
#include "harness/forensics/explain/index_maps.h"
#include "tests/program.h"
#include "tests/temporary.h"

namespace assay::explain_test {
namespace {

std::string plugin(const char* name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

// What is told of a kernel.
nlohmann::json told_of(const std::string& op, const std::string& variant, const char* library = "misread_plugin.so") {
  const Ran ran = run_assay({"explain", op, "--plugin", plugin(library), "--variant", variant, "--json"});
  EXPECT_EQ(ran.status, 1) << ran.err;
  const auto json = nlohmann::json::parse(ran.out, nullptr, false);
  if (!json.is_object() || json["ops"][0]["kernels"].size() != 1) return nlohmann::json::object();
  return json["ops"][0]["kernels"][0];
}

struct Planted {
  const char* op;
  const char* kernel;
  const char* name;  // of the hypothesis
  const char* when;  // empty: in all calls
};
class Explain : public testing::TestWithParam<Planted> {};

TEST_P(Explain, WhatIsPlantedIsTold) {
  const Planted& planted = GetParam();
  const auto kernel = told_of(planted.op, std::string("misread:") + planted.kernel);
  ASSERT_TRUE(kernel.contains("explanations"));
  EXPECT_FALSE(kernel["ended_early"]);
  std::string names;
  bool found = false;
  for (const auto& one : kernel["explanations"]) {
    const std::string when = one.contains("when") ? one["when"]["words"].get<std::string>() : "";
    found = found || (one["name"] == planted.name && when == planted.when);
    names += one["name"].get<std::string>() + (when.empty() ? "; " : " where " + when + "; ");
    EXPECT_LE(one["margin"], 1);
    EXPECT_FALSE(one["law"].get<std::string>().empty());
  }
  EXPECT_TRUE(found) << planted.kernel << ": " << names;
}

INSTANTIATE_TEST_SUITE_P(
    Each, Explain,
    testing::Values(
        Planted{"rms_norm", "eps_outside", "eps-outside-root", ""}, Planted{"rms_norm", "no_eps", "no-eps", ""},
        Planted{"rms_norm", "last_left_out", "without-last:n", ""}, Planted{"rms_norm", "dense_rows", "dense:x", ""},
        Planted{"rms_norm", "in_long_rows", "without-last:n", "n is above 256"},
        Planted{"rms_norm", "own_row", "own-row-as-weights", ""}, Planted{"rms_norm", "bfloat_weights", "in-bf16:w", ""},
        Planted{"rms_norm", "scaled", "factor", ""}, Planted{"rms_norm", "reads_past", "factor", ""},
        Planted{"rms_norm", "last_unwritten", "out-last-left-out:y:n", ""}, Planted{"softmax", "not_divided", "not-divided", ""},
        Planted{"rms_norm", "some_unwritten", "unwritten", ""}, Planted{"swiglu", "gelu", "gelu", ""},
        Planted{"swiglu", "exchanged", "exchanged:gate-up", ""}, Planted{"add", "difference", "difference", ""},
        Planted{"matvec_f32", "bfloat_x", "x=bf16;", ""}, Planted{"matvec_f32", "last_column", "without-last:k", ""},
        Planted{"matvec_f32", "in_threes", "without-last:k", "k mod 16 is 3, past 16"},
        Planted{"matvec_f32", "neighbour", "out-last-is-the-one-before:y:n", ""},
        Planted{"matvec_f32", "accumulated", "accumulated", ""}, Planted{"rms_norm", "fourth_lost", "summed:fourth-of-4x8", ""},
        Planted{"rms_norm", "bfloat_results", "results-in-bf16", ""},
        Planted{"rms_norm", "bfloat_before_weights", "in-bf16-before-weights", ""},
        Planted{"rms_norm", "whole_eights", "summed:steps-of-8", ""}, Planted{"rms_norm", "cut_off", "result-clamped", ""},
        Planted{"rms_norm", "upper_half", "where-second-half:n", "n mod 16 is 3, past 16"},
        Planted{"rms_norm", "rows_alike", "where-last:n", "x has a row that is the one before it"},
        Planted{"add", "to_negatives", "where-negative:a", ""},
        Planted{"argmax", "in_threes", "where-all", "n mod 16 is 3, past 16"}, Planted{"softmax", "softer", "times-before", ""},
        Planted{"embed_f32", "scaled", "times:sqrt(n)", ""}, Planted{"gemv_q4_0_q8_0", "no_offset", "offset-left-out:w", ""},
        Planted{"rope", "second_minus", "second-minus", ""}),
    [](const auto& one) { return std::string(one.param.op) + "_" + one.param.kernel; });

TEST(ExplainNone, WhatIsWrongByChanceHasNoExplanation) {
  for (const auto& [op, name] : {std::pair{"rms_norm", "misread:chance"}, std::pair{"rope_table", "misread:of_positions"}}) {
    const auto kernel = told_of(op, name);
    ASSERT_TRUE(kernel.contains("explanations"));
    EXPECT_TRUE(kernel["explanations"].empty()) << kernel["explanations"];
    EXPECT_GT(kernel["hypotheses"], 100);
  }
}

// Of a place most must be wrong: a third of the upper half is no reason to name it.
TEST(ExplainNone, APlaceOfWhichAThirdIsWrongIsNotTold) {
  const auto kernel = told_of("rms_norm", "misread:some_of_upper_half");
  ASSERT_TRUE(kernel.contains("explanations"));
  EXPECT_TRUE(kernel["explanations"].empty()) << kernel["explanations"];
}

TEST(ExplainNone, ARightKernelHasNothingToExplain) {
  const Ran ran = run_assay({"explain", "rms_norm", "--plugin", plugin("misread_plugin.so"), "--variant", "misread:right"});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("nothing to explain"), std::string::npos) << ran.out;
}

TEST(ExplainDeclared, WhatWouldDeclareItIsTold) {
  const auto rounds = told_of("matvec_f32", "misread:bfloat_x");
  ASSERT_TRUE(rounds.contains("explanations"));
  EXPECT_EQ(rounds["explanations"].size(), 1U);
  EXPECT_EQ(rounds["explanations"][0]["properties"], "x=bf16;");
  const auto estimates = told_of("rms_norm", "declared:estimate", "declared_plugin.so");
  EXPECT_EQ(estimates.value("permits", ""), "rsqrt=6144;");
}

// Its errors would pass under sums in bf16, and its sums are none.
TEST(ExplainDeclared, WhatTheKernelRefutesIsNoPermit) {
  const auto leans = told_of("matvec_f32", "misread:leaning");
  ASSERT_TRUE(leans.contains("explanations"));
  EXPECT_EQ(leans.value("permits", ""), "");
}

TEST(ExplainLaws, StandInTheHeadersAsTheyAreTold) {
  const std::regex spaces("[\\s*]+");
  for (const Op* op : ops()) {
    const std::string header = file_bytes(std::string(std::getenv("ASSAY_SOURCE_DIR")) + "/" + op->family->header);
    const std::string plain = std::regex_replace(header, spaces, " ");
    for (const why::Law law : {why::Law::equation, why::Law::layout, why::Law::rounding, why::Law::classes}) {
      const std::string text = std::regex_replace(std::string(why::law_of(*op, law)), spaces, " ");
      EXPECT_NE(plain.find(text), std::string::npos) << op->name << ": " << text;
    }
  }
}

TEST(ExplainMaps, AMapTakesEachElementFromAPlaceOfItsAxis) {
  for (const why::IndexMap& map : why::index_maps()) {
    for (const std::int64_t length : {1, 2, 3, 16, 17, 64, 100, 1000, 70000}) {
      for (std::int64_t i = 0; i<length; i += length> 5000 ? 97 : 1) {
        const std::int64_t from = map.at(i, length);
        ASSERT_TRUE(from == why::kNone || (from >= 0 && from < length))
            << map.name << " " << i << " of " << length << ": " << from;
      }
    }
  }
}

}  // namespace
}  // namespace assay::explain_test
