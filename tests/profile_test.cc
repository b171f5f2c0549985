// `assay run --profile`: passes, calls, bytes and operations counted by the definition of each step; times add up.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "harness/forensics/profile/profile.h"
#include "tests/engine_support.h"
#include "tests/program.h"

namespace assay::profile::profile_test {
namespace {

constexpr Roofs kRoofs{40e9, 200e9, std::nullopt};

// 20 tokens in passes of 16 and 4, then three one by one.
struct Timed {
  explicit Timed(std::int64_t window)
      : model(test_model("bf16-folder")), engine(model, options(window)), clock(engine.plan().steps.size(), 2, window) {
    engine.time_steps(&clock);
    std::vector<std::int32_t> tokens(23);
    std::iota(tokens.begin(), tokens.end(), 100);
    engine.feed(std::span(tokens).first(20));
    for (std::size_t i = 20; i < 23; ++i) engine.feed(std::span(tokens).subspan(i, 1));
    profile = make_profile(engine, clock, kRoofs);
  }
  static EngineOptions options(std::int64_t window) {
    EngineOptions options;
    options.threads = 2;
    options.plan.chunk = 16;
    options.plan.window = window;
    return options;
  }
  const Part& part(const std::string& name) const { return *std::ranges::find(profile.parts, name, &Part::name); }
  const Line& line(const std::string& part_name, const std::string& site) const {
    return *std::ranges::find(part(part_name).lines, site, &Line::site);
  }
  double layers() const { return static_cast<double>(engine.plan().config.layers); }
  double whole_layers() const { return layers() - 1; }  // the last has but the row of logits, in one of two prefill passes

  ModelFile model;
  Engine engine;
  StepClock clock;
  Profile profile;
};

TEST(Profile, CountsPassesCallsBytesAndOperations) {
  const Timed timed(0);
  ASSERT_EQ(timed.profile.parts.size(), 2U);
  EXPECT_EQ(timed.part("prefill").passes, 2);
  EXPECT_EQ(timed.part("prefill").rows, 20);
  EXPECT_EQ(timed.part("decode").passes, 3);
  EXPECT_EQ(timed.part("decode").rows, 3);
  const ModelConfig& config = timed.engine.plan().config;
  EXPECT_EQ(timed.line("prefill", "k_proj").calls, 2 * config.layers);
  EXPECT_EQ(timed.line("prefill", "q_proj").calls, 2 * timed.whole_layers() + 1);
  EXPECT_EQ(timed.line("prefill", "lm_head").calls, 1) << "the first pass gives no logits";
  EXPECT_EQ(timed.line("decode", "lm_head").calls, 3);

  const auto hidden = static_cast<double>(config.hidden);
  const auto wide = static_cast<double>(config.q_width());
  // bf16 weights once a pass, f32 rows in and out.
  EXPECT_EQ(timed.line("decode", "q_proj").bytes, timed.layers() * 3 * (2 * hidden * wide + 4 * hidden + 4 * wide));
  const double rows = timed.whole_layers() * 20 + 1;
  EXPECT_EQ(timed.line("prefill", "q_proj").bytes,
            (timed.whole_layers() * 2 + 1) * 2 * hidden * wide + rows * (4 * hidden + 4 * wide));
  EXPECT_EQ(timed.line("prefill", "q_proj").operations, rows * 2 * hidden * wide);
  EXPECT_FALSE(timed.line("prefill", "q_proj").of_codes);
  EXPECT_EQ(timed.line("decode", "attn").operations, timed.layers() * 4 * wide * (21 + 22 + 23));
  // 1 + 2 + ... + 20 keys, the last row's 20.
  EXPECT_EQ(timed.line("prefill", "attn").operations, 4 * wide * (timed.whole_layers() * 210 + 20));
  const double position = 2 * 4 * static_cast<double>(config.kv_width());  // K and V in f32
  EXPECT_EQ(timed.line("prefill", "attn").bytes, rows * 2 * 4 * wide + (timed.whole_layers() * (16 + 20) + 20) * position);
}

TEST(Profile, AWindowBoundsTheKeys) {
  const Timed timed(8);
  const auto wide = static_cast<double>(timed.engine.plan().config.q_width());
  EXPECT_EQ(timed.line("decode", "attn").operations, timed.layers() * 4 * wide * 3 * 8);
  EXPECT_EQ(timed.line("prefill", "attn").operations, 4 * wide * (timed.whole_layers() * (36 + 12 * 8) + 8));
}

TEST(Profile, TimesAddUpAndLinesAreSorted) {
  const Timed timed(0);
  for (const Part& part : timed.profile.parts) {
    double sum = part.waiting;
    for (const Line& line : part.lines) sum += line.seconds;
    EXPECT_NEAR(sum, part.seconds, 1e-9 * part.seconds) << part.name;
    EXPECT_GT(part.lines.front().seconds, 0) << part.name;
    EXPECT_TRUE(std::ranges::is_sorted(part.lines, std::greater(), &Line::seconds)) << part.name;
  }
}

TEST(Profile, TheTextHasEveryLineAndItsShareOfTheRoofs) {
  Profile profile{2, {40e9, 200e9, 400e9}, {}};
  profile.parts.push_back(
      {"decode", 4, 4, 0.5, 0.125, {{"q_proj", "gemv_x", 8, 0.25, 1e9, 2e10, true}, {"add", "add_x", 8, 0.125, 1e8, 0, false}}});
  const std::string text = profile_text(profile, Style::plain());
  // 1 GB in 0.25 s: 4 GB/s, 10 % of 40; 20 Gop in 0.25 s: 80 Gop/s, 20 % of 400.
  EXPECT_NE(text.find("q_proj  gemv_x                   8  250.00   50.0  1000.0  4.00    10.0   80.0       20.0\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("waiting at barriers"), std::string::npos) << text;
  const auto json = profile_json(profile);
  EXPECT_EQ(json["parts"][0]["steps"][0]["of"], "int8");
  EXPECT_FALSE(json["parts"][0]["steps"][1].contains("operations"));
}

TEST(Profile, ComesWithTheTextOfARun) {
  const Ran plain = run_assay({"run", "-p", "And God said", "-n", "4", "--threads", "2"});
  const Ran ran = run_assay({"run", "-p", "And God said", "-n", "4", "--threads", "2", "--profile", "--json"});
  const auto json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json["text"].get<std::string>() + "\n", plain.out);
  EXPECT_EQ(json["profile"]["threads"], 2);
  EXPECT_EQ(json["profile"]["parts"].size(), 2U);
  EXPECT_GT(json["profile"]["roofs"]["read"], 0);
}

}  // namespace
}  // namespace assay::profile::profile_test
