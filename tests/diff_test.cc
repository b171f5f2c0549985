// Two traces against one another: right engines do not diverge, one disturbed site is named, what does not align is listed and
// never trimmed.
#include "harness/forensics/diff/diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "harness/forensics/diff/report.h"
#include "harness/forensics/model/definition.h"
#include "harness/forensics/sites/site_name.h"
#include "tests/diff_support.h"
#include "tests/temporary.h"

namespace assay::diff::diff_test {
namespace {

TraceDiff compare(const std::filesystem::path& a, const std::filesystem::path& b, const DiffOptions& options = {}) {
  return compare_traces(TraceFile(a), TraceFile(b), nullptr, options);
}

DiffOptions genesis() {
  DiffOptions options;
  options.prompt = "genesis";
  return options;
}

// "" where nothing diverges.
std::string first_divergence(const PromptDiff& prompt) {
  const auto sites = prompt.divergences();
  return sites.empty() ? "" : prompt.errors[sites.front()].site;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The defaults' basis (docs/diff.md): the committed traces of right engines over the same weights.
TEST(Diff, RightEnginesDoNotDiverge) {
  struct Pair {
    const char *a, *b;
    std::size_t prompts;
    double of_floor;  // the largest error of a row may have this share of the floor
  };
  for (const Pair& pair : {Pair{"kjv-hf-f32", "kjv-f64", 6, 0.8}, Pair{"kjv-hf-bf16", "kjv-f64", 6, 0.5},
                           Pair{"kjv-hf-bf16", "kjv-hf-f32", 6, 0.5}, Pair{"kjv-llama-f16", "kjv-f64", 1, 0.2},
                           Pair{"kjv-llama-q8_0", "kjv-f64", 1, 0.5}, Pair{"kjv-f64", "kjv-hf-f32", 6, 0.8}}) {
    DiffOptions options;
    if (pair.prompts == 1) options = genesis();
    const TraceDiff diff = compare(golden_trace(pair.a), golden_trace(pair.b), options);
    EXPECT_TRUE(diff.aligned()) << pair.a;
    ASSERT_EQ(diff.prompts.size(), pair.prompts) << pair.a;
    for (const PromptDiff& prompt : diff.prompts) {
      EXPECT_EQ(first_divergence(prompt), "") << pair.a << " " << pair.b << " " << prompt.name;
      EXPECT_EQ(prompt.errors.size(), 105U);
      for (const SiteError& error : prompt.errors) {
        EXPECT_LE(error.largest_row_relative(), pair.of_floor * prompt.threshold.floor) << prompt.name << " " << error.site;
        EXPECT_GT(error.elements, 0);
      }
    }
  }
}

TEST(Diff, TheFloorIsOfTheCoarserRun) {
  const Rounding f64 = rounding_of(TraceFile(golden_trace("kjv-f64")));
  const Rounding f32 = rounding_of(TraceFile(golden_trace("kjv-hf-f32")));
  const Rounding bf16 = rounding_of(TraceFile(golden_trace("kjv-hf-bf16")));
  EXPECT_EQ(default_threshold(f64, f64, 14).floor, 46 * 0x1p-53);
  EXPECT_EQ(default_threshold(f32, f64, 14).floor, 46 * 0x1p-24);
  EXPECT_EQ(default_threshold(f64, bf16, 14).floor, 16 * 0x1p-8 + 30 * 0x1p-24);
  EXPECT_EQ(rounding_of(TraceFile(golden_trace("kjv-llama-f16"))).activations, 0x1p-11);
  EXPECT_EQ(rounding_of(TraceFile(golden_trace("kjv-llama-q4_k_m"))).activations, 0x1p-8);
}

// Everything from gate_proj of layer 3 on is off by the same share: that site is the first. up_proj is the only other one whose
// inputs are right.
TEST(Diff, TheFirstDisturbedSiteIsNamed) {
  const TemporaryFolder folder;
  const auto copy = folder.path() / "copy.h5";
  const From wrong(golden_trace("kjv-hf-f32"), "genesis", "layers.03.gate_proj");
  for (const double relative : {3e-1, 1e-3, 2e-5}) {
    copy_trace(golden_trace("kjv-hf-f32"), copy, {"genesis", "psalm"}, [&](const std::string& site, Array& values) {
      if (wrong(site)) disturb(values, relative);
      return true;
    });
    const TraceDiff diff = compare(copy, golden_trace("kjv-f64"));
    ASSERT_EQ(diff.prompts.size(), 2U);
    EXPECT_EQ(diff.diverged().size(), 2U);
    for (const PromptDiff& prompt : diff.prompts) {
      ASSERT_EQ(prompt.divergences().size(), 2U) << relative;
      EXPECT_EQ(first_divergence(prompt), "layers.03.gate_proj") << relative;
      EXPECT_EQ(prompt.errors[prompt.divergences()[1]].site, "layers.03.up_proj") << relative;
    }
    EXPECT_TRUE(contains(describe_divergence(diff.prompts[0], diff.prompts[0].divergences().front()), "layers.03.ffn_norm"));
    EXPECT_TRUE(contains(verdict(diff), "divergence in 2 of 2 prompts: genesis at layers.03.gate_proj")) << verdict(diff);
  }
}

// One row of one site, though the whole hardly changes; and a site whose inputs are right again is named beside it.
TEST(Diff, ARowIsEnoughAndFaultsAddUp) {
  const TemporaryFolder folder;
  const auto copy = folder.path() / "copy.h5";
  copy_trace(golden_trace("kjv-hf-f32"), copy, {"genesis"}, [&](const std::string& site, Array& values) {
    if (site == "layers.01.v_proj") disturb(values, 1e-5, 9);
    if (site == "layers.04.o_proj") disturb(values, 1e-4);
    return true;
  });
  const TraceDiff diff = compare(copy, golden_trace("kjv-f64"));
  const PromptDiff& prompt = diff.prompts.at(0);
  ASSERT_EQ(prompt.divergences().size(), 2U);
  const SiteError& first = prompt.errors[prompt.divergences()[0]];
  EXPECT_EQ(first.site, "layers.01.v_proj");
  EXPECT_LT(first.relative, prompt.threshold.floor);
  EXPECT_EQ(prompt.alignment.positions[static_cast<std::size_t>(first.largest_row)], 9);
  EXPECT_EQ(prompt.errors[prompt.divergences()[1]].site, "layers.04.o_proj");
}

// Both runs round to codes, whose flips make up for a floor far above this error: but they do not disturb every row.
TEST(Diff, BelowTheFloorOfCodesMostRowsTell) {
  const TemporaryFolder folder;
  const auto copy = folder.path() / "copy.h5";
  const auto golden = golden_trace("kjv-llama-q4_k_m");
  for (const bool every_row : {true, false}) {
    copy_trace(golden, copy, {"genesis"}, [&](const std::string& site, Array& values) {
      if (site == "layers.03.swiglu") disturb(values, 1e-3, every_row ? -1 : 4);
      return true;
    });
    const TraceDiff diff = compare(copy, golden, genesis());
    const PromptDiff& prompt = diff.prompts.at(0);
    EXPECT_EQ(first_divergence(prompt), every_row ? "layers.03.swiglu" : "");
    EXPECT_GT(prompt.threshold.floor, 1e-2);
  }
}

TEST(Diff, WhatIsNotFiniteDiverges) {
  const TemporaryFolder folder;
  const auto copy = folder.path() / "copy.h5";
  copy_trace(golden_trace("kjv-hf-f32"), copy, {"genesis"}, [&](const std::string& site, Array& values) {
    auto* x = reinterpret_cast<float*>(values.bytes.data());
    if (site == "layers.02.swiglu") x[5] = std::numeric_limits<float>::quiet_NaN();
    if (site == "lm_head") x[3] = std::numeric_limits<float>::infinity();
    return true;
  });
  const TraceDiff diff = compare(copy, golden_trace("kjv-f64"));
  const PromptDiff& prompt = diff.prompts.at(0);
  ASSERT_EQ(first_divergence(prompt), "layers.02.swiglu");
  const SiteError& error = prompt.errors[prompt.divergences().front()];
  EXPECT_EQ(error.not_finite, 1);
  EXPECT_EQ(worst_index(prompt, error), "[0, 5]");
  EXPECT_TRUE(std::isinf(error.max_abs));
  ASSERT_TRUE(prompt.logits);
  EXPECT_EQ(prompt.logits->not_finite, 1);
  EXPECT_EQ(prompt.logits->rows, 13);
  EXPECT_TRUE(diff_json(diff).at("prompts").at(0).at("sites").at(0).at("max_abs").is_number());
}

// Each site's inputs are sites, and run before it.
TEST(Diff, TheWiringIsThatOfTheTraces) {
  for (const char* name : {"kjv-f64", "kjv-llama-f16", "tiny-a-llama-q8_0"}) {
    const TraceFile file(golden_trace(name));
    const std::vector<std::string> sites = file.prompt(file.prompts().front()).sites;
    const int last = file.head("model") == "kjv" ? 5 : 3;
    for (auto site = sites.begin(); site != sites.end(); ++site) {
      EXPECT_EQ(site_inputs(*site, last).empty(), *site == "embed") << *site;
      for (const std::string& input : site_inputs(*site, last)) {
        EXPECT_NE(std::find(sites.begin(), site, input), site) << name << ": " << *site << " reads " << input;
      }
    }
  }
  EXPECT_EQ(site_inputs("layers.07.attn_residual", 9), (std::vector<std::string>{"layers.06.ffn_residual", "layers.07.o_proj"}));
  EXPECT_EQ(site_inputs("layers.00.attn_norm", 9), std::vector<std::string>{"embed"});
  EXPECT_EQ(site_inputs("final_norm", 9), std::vector<std::string>{"layers.09.ffn_residual"});
}

Array array_of(const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
  Array out{DType::f32, shape, {}};
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
  out.bytes.assign(bytes, bytes + values.size() * sizeof(float));
  return out;
}

TEST(Diff, AnErrorByHand) {
  const Array ours = array_of({2, 2, 2}, {1, 2, 3, 4, 0, 0, 3, 8});
  const Array theirs = array_of({3, 2, 2}, {9, 9, 9, 9, 1, 2, 3, 4, 0, 0, 3, 4});
  const SiteError error = site_error("x", ours, {0, 1}, theirs, {1, 2});
  EXPECT_EQ(error.elements, 8);
  EXPECT_EQ(error.max_abs, 4);
  EXPECT_EQ(error.worst_row, 1);
  EXPECT_EQ(error.worst_at, (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(error.ours, 8);
  EXPECT_EQ(error.theirs, 4);
  EXPECT_DOUBLE_EQ(error.rms, std::sqrt(16.0 / 8));
  EXPECT_DOUBLE_EQ(error.relative, std::sqrt(16.0 / 55));
  EXPECT_EQ(error.row_relative, (std::vector<double>{0, 0.8}));
  EXPECT_DOUBLE_EQ(error.cosine, (30 + 41) / std::sqrt(103.0) / std::sqrt(55.0));
  const SiteError nothing = site_error("x", array_of({1, 2}, {0, 1}), {0}, array_of({1, 2}, {0, 0}), {0});
  EXPECT_TRUE(std::isinf(nothing.relative));
  EXPECT_EQ(nothing.cosine, 0);
  SiteError rows;
  EXPECT_EQ(rows.median_row_relative(), 0);
  rows.row_relative = {3, 1, 9, 2};
  EXPECT_EQ(rows.median_row_relative(), 2);
}

TEST(Diff, FlipsAreTiesOrNot) {
  std::vector<float> theirs(100);
  for (std::size_t i = 0; i < theirs.size(); ++i) theirs[i] = static_cast<float>(i % 7);
  theirs[10] = 9.0F;
  theirs[20] = 8.99F;
  std::vector<float> tie = theirs;
  for (std::size_t i = 0; i < tie.size(); ++i) tie[i] += i % 2 == 0 ? 0.01F : -0.01F;
  tie[20] += 0.02F;
  std::vector<float> wrong = theirs;
  wrong[20] += 4;  // one logit, far beyond the others' error
  theirs.insert(theirs.end(), theirs.begin(), theirs.begin() + 100);
  tie.insert(tie.end(), wrong.begin(), wrong.end());
  theirs[120] = 5;
  const LogitsDiff diff = logits_diff(array_of({2, 100}, tie), {0, 1}, array_of({2, 100}, theirs), {0, 1}, {4, 7}, 2);
  ASSERT_EQ(diff.flips.size(), 2U);
  EXPECT_EQ(diff.flips[0].position, 4);
  EXPECT_EQ(diff.flips[0].row.ours, 20);
  EXPECT_TRUE(diff.flips[0].tie());
  EXPECT_EQ(diff.flips[1].position, 7);
  EXPECT_NEAR(diff.flips[1].row.gap, 4, 1e-5);
  EXPECT_FALSE(diff.flips[1].tie());
  EXPECT_EQ(diff.overlap, 0.75);  // 10 and 20 in both; then 10 and another
  EXPECT_EQ(diff.least_overlap_position, 7);
  EXPECT_GT(diff.largest_kl, 1);
  EXPECT_EQ(diff.largest_kl_position, 7);
}

TEST(Diff, GreedyTextPartsWhereBf16LeavesFp32) {
  const TraceDiff diff = compare(golden_trace("kjv-hf-bf16"), golden_trace("kjv-hf-f32"));
  std::size_t with_text = 0;
  for (const PromptDiff& prompt : diff.prompts) {
    if (!prompt.greedy) continue;
    ++with_text;
    EXPECT_EQ(prompt.greedy->parting.has_value(), prompt.name == "psalm") << prompt.name;
    if (prompt.greedy->parting) {
      EXPECT_EQ(*prompt.greedy->parting, 66);
      EXPECT_LT(prompt.greedy->gap, 0.1F);
    }
  }
  EXPECT_EQ(with_text, 3U);
}

TEST(Diff, TheThirdTraceGivesTheScale) {
  const TraceFile f32(golden_trace("kjv-hf-f32"));
  const TraceFile f64(golden_trace("kjv-f64"));
  const TraceFile bf16(golden_trace("kjv-hf-bf16"));
  const TraceDiff nearer = compare_traces(f32, f64, &bf16, {});
  for (const PromptDiff& prompt : nearer.prompts) {
    EXPECT_EQ(prompt.below(), 105) << prompt.name;
    EXPECT_TRUE(prompt.logits_against);
  }
  const TraceDiff farther = compare_traces(bf16, f64, &f32, genesis());
  const PromptDiff& prompt = farther.prompts.at(0);
  EXPECT_EQ(prompt.below(), 1);  // embed, which is exact in both
  EXPECT_GT(prompt.errors[1].rms, 100 * prompt.against[1].rms);
  EXPECT_TRUE(contains(diff_text(farther, false, Style::plain()), "at 1 of 105 sites; not at layers.00.attn_norm"));
}

}  // namespace
}  // namespace assay::diff::diff_test
