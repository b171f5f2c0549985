// The sampler, held to the same rules written out in double: which tokens can be drawn, and how often each is.
#include "engine/run/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <random>

#include "engine/run/engine.h"

namespace assay::sampler_test {
namespace {

// Token -> probability of those that are left; nothing where a sum lies so near a limit that rounding decides.
std::optional<std::map<std::int32_t, double>> expected_choice(const std::vector<float>& logits, const Sampling& sampling) {
  std::vector<std::int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto logit = [&](std::int32_t token) { return static_cast<double>(logits[static_cast<std::size_t>(token)]); };
  std::ranges::stable_sort(order, std::ranges::greater(), logit);
  if (sampling.top_k > 0 && sampling.top_k < std::ssize(order)) order.resize(static_cast<std::size_t>(sampling.top_k));
  std::vector<double> weights;
  for (const std::int32_t token : order) weights.push_back(std::exp((logit(token) - logit(order[0])) / sampling.temperature));
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::size_t kept = 0;
  for (double sum = 0; kept < order.size() && (kept == 0 || sum < sampling.top_p); ++kept) {
    sum += weights[kept] / all;
    if (sampling.top_p < 1 && std::abs(sum - sampling.top_p) < 1e-5) return std::nullopt;
  }
  std::map<std::int32_t, double> choice;
  double left = 0;
  for (std::size_t i = 0; i < kept; ++i) {
    if (std::abs(weights[i] - sampling.min_p) < 1e-5) return std::nullopt;
    if (weights[i] < sampling.min_p) continue;
    choice[order[i]] = weights[i];
    left += weights[i];
  }
  for (auto& [token, probability] : choice) probability /= left;
  return choice;
}

std::vector<float> random_logits(std::size_t vocab, unsigned seed, float scale) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> logits(vocab);
  for (float& logit : logits) logit = normal(engine);
  return logits;
}

std::map<std::int32_t, int> drawn(const std::vector<float>& logits, const Sampling& sampling, int draws) {
  Sampler sampler(std::ssize(logits), sampling);
  std::map<std::int32_t, int> counts;
  for (int i = 0; i < draws; ++i) ++counts[sampler.sample(logits, static_cast<std::uint64_t>(i))];
  return counts;
}

// Pearson's sum over tokens of which 5 at least are expected; the others are one class.
void expect_distribution(const std::map<std::int32_t, int>& counts, const std::map<std::int32_t, double>& expected, int draws) {
  for (const auto& [token, count] : counts) ASSERT_TRUE(expected.contains(token)) << "token " << token << " was drawn";
  double sum = 0;
  double rare = 0;
  int rare_counted = 0;
  int classes = 0;
  for (const auto& [token, probability] : expected) {
    const double want = probability * draws;
    const auto found = counts.find(token);
    const int got = found == counts.end() ? 0 : found->second;
    if (want < 5) {
      rare += want;
      rare_counted += got;
      continue;
    }
    sum += std::pow(got - want, 2) / want;
    ++classes;
  }
  if (rare >= 5) {
    sum += std::pow(rare_counted - rare, 2) / rare;
    ++classes;
  }
  const double freedom = std::max(classes - 1, 1);
  EXPECT_LT(sum, freedom + 6 * std::sqrt(2 * freedom)) << classes << " classes";
}

TEST(Sampler, DrawsInProportionFromWhatTheRulesLeave) {
  const Sampling rules[] = {{.temperature = 1},
                            {.temperature = 0.5F},
                            {.temperature = 2},
                            {.temperature = 1, .top_k = 5},
                            {.temperature = 1, .top_k = 1},
                            {.temperature = 1, .top_k = 1000},
                            {.temperature = 1, .top_p = 0.8},
                            {.temperature = 1.5F, .top_p = 0.3},
                            {.temperature = 1, .top_p = 1e-9},
                            {.temperature = 1, .min_p = 0.1},
                            {.temperature = 0.7F, .min_p = 0.5},
                            {.temperature = 1, .min_p = 1},
                            {.temperature = 0.9F, .top_k = 12, .top_p = 0.9, .min_p = 0.05},
                            {.temperature = 1, .top_k = 3, .top_p = 0.99, .min_p = 0.4}};
  constexpr int kDraws = 20000;
  int compared = 0;
  for (const Sampling& rule : rules) {
    for (const unsigned seed : {1U, 2U, 3U}) {
      const std::vector<float> logits = random_logits(40, seed, 1.5F);
      const auto expected = expected_choice(logits, rule);
      if (!expected) continue;
      ++compared;
      SCOPED_TRACE(testing::Message() << "temperature " << rule.temperature << ", top_k " << rule.top_k << ", top_p "
                                      << rule.top_p << ", min_p " << rule.min_p << ", logits " << seed << ": " << expected->size()
                                      << " left");
      expect_distribution(drawn(logits, rule, kDraws), *expected, kDraws);
    }
  }
  EXPECT_GT(compared, 35);
}

// Each token that the rules leave can be drawn, and no other: seen on flat logits, where none is rare.
TEST(Sampler, TheSetsAreThoseOfTheRules) {
  int compared = 0;
  for (unsigned seed = 10; seed < 60; ++seed) {
    const std::vector<float> logits = random_logits(24, seed, 0.4F);
    const Sampling rule{
        .temperature = 0.8F, .top_k = static_cast<std::int64_t>(seed % 20), .top_p = 0.2 + 0.015 * seed, .min_p = 0.3};
    Sampling capped = rule;
    capped.top_p = std::min(capped.top_p, 1.0);
    const auto expected = expected_choice(logits, capped);
    if (!expected) continue;
    ++compared;
    const auto counts = drawn(logits, capped, 1500);
    ASSERT_EQ(counts.size(), expected->size()) << seed;
    for (const auto& [token, count] : counts) EXPECT_TRUE(expected->contains(token)) << seed << ": " << token;
  }
  EXPECT_GT(compared, 45);
}

TEST(Sampler, AtTemperature0TheFirstOfTheLargestIsTaken) {
  std::vector<float> logits = random_logits(5000, 7, 3);
  logits[4321] = logits[77] = 40;
  for (const std::uint64_t seed : {0, 1, 2}) {
    Sampler sampler(5000, {.temperature = 0, .top_k = 3, .top_p = 0.5, .min_p = 0.5, .seed = seed});
    for (std::uint64_t index = 0; index < 5; ++index) EXPECT_EQ(sampler.sample(logits, index), 77);
  }
}

// Of equal logits the lower tokens are likelier to stay.
TEST(Sampler, TiesGoToTheLowerToken) {
  std::vector<float> logits(10, 0.0F);
  logits[3] = -0.0F;
  const auto tokens = [](const std::map<std::int32_t, int>& counts) {
    std::vector<std::int32_t> all;
    for (const auto& [token, count] : counts) all.push_back(token);
    return all;
  };
  EXPECT_EQ(tokens(drawn(logits, {.temperature = 1, .top_k = 4}, 500)), (std::vector<std::int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(tokens(drawn(logits, {.temperature = 1, .top_p = 0.25}, 500)), (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(tokens(drawn(logits, {.temperature = 1, .min_p = 1}, 500)).size(), 10U);
}

TEST(Sampler, SeedAndIndexAloneDecide) {
  const std::vector<float> logits = random_logits(300, 5, 1);
  const auto text = [&](std::uint64_t seed, std::uint64_t first) {
    Sampler sampler(300, {.temperature = 1, .seed = seed});
    std::vector<std::int32_t> tokens;
    for (std::uint64_t index = first; index < 50; ++index) tokens.push_back(sampler.sample(logits, index));
    return tokens;
  };
  const auto one = text(1, 0);
  EXPECT_EQ(text(1, 0), one);
  EXPECT_NE(text(2, 0), one);
  EXPECT_EQ(text(1, 20), std::vector<std::int32_t>(one.begin() + 20, one.end())) << "what was drawn before does not count";
}

TEST(Sampler, InfinitiesAndNans) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<float> logits(6, -kInf);
  logits[2] = 1;
  logits[4] = 1;
  const auto counts = drawn(logits, {.temperature = 1}, 200);
  EXPECT_EQ(counts.size(), 2U);
  EXPECT_TRUE(counts.contains(2) && counts.contains(4));
  logits[5] = kInf;
  EXPECT_EQ(drawn(logits, {.temperature = 1}, 50).begin()->first, 5);
  logits[1] = std::nanf("");
  for (const float temperature : {0.0F, 1.0F}) {
    Sampler sampler(6, {.temperature = temperature});
    EXPECT_THROW(sampler.sample(logits, 0), EngineError);
  }
}

// Differences of logits divided by a temperature near 0 leave the range of f32.
TEST(Sampler, ATinyTemperatureTakesTheLargest) {
  const std::vector<float> logits = random_logits(100, 3, 10);
  const auto best = static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin());
  const auto counts = drawn(logits, {.temperature = 1e-40F}, 50);
  EXPECT_EQ(counts.size(), 1U);
  EXPECT_EQ(counts.begin()->first, best);
}

TEST(Sampler, Refusals) {
  const auto refused = [](const Sampling& sampling) {
    try {
      const Sampler sampler(10, sampling);
    } catch (const std::invalid_argument&) {
      return true;
    }
    return false;
  };
  EXPECT_TRUE(refused({.temperature = -1}));
  EXPECT_TRUE(refused({.temperature = std::nanf("")}));
  EXPECT_TRUE(refused({.temperature = std::numeric_limits<float>::infinity()}));
  EXPECT_TRUE(refused({.top_k = -1}));
  EXPECT_TRUE(refused({.top_p = 0}));
  EXPECT_TRUE(refused({.top_p = 1.5}));
  EXPECT_TRUE(refused({.top_p = std::nan("")}));
  EXPECT_TRUE(refused({.min_p = -0.1}));
  EXPECT_TRUE(refused({.min_p = 1.1}));
  EXPECT_FALSE(refused({}));
}

}  // namespace
}  // namespace assay::sampler_test
