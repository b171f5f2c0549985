// What `assay eval` is made of: figures of logits, windows, errors by kind of site, a model against another and against traces.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "engine/run/site_rows.h"
#include "engine/tokenizer/tokenizer.h"
#include "golden/trace_writer.h"
#include "harness/forensics/eval/text_eval.h"
#include "harness/forensics/eval/trace_eval.h"
#include "harness/forensics/sites/site_name.h"
#include "harness/verdict/suite.h"
#include "tests/temporary.h"

namespace assay::eval_test {
namespace {

std::filesystem::path kjv() {
  return own_golden() / "models" / "kjv";
}

TEST(Logits, LikelihoodIsTheSoftmaxs) {
  const std::vector<float> row{1.0F, 2.0F, 4.0F};
  const double sum = std::exp(1.0) + std::exp(2.0) + std::exp(4.0);
  EXPECT_NEAR(negative_log_likelihood(row, 1), -std::log(std::exp(2.0) / sum), 1e-15);
  const std::vector<float> far{1e30F, 0.0F};
  EXPECT_EQ(negative_log_likelihood(far, 0), 0);
  EXPECT_THROW((void)negative_log_likelihood(row, 3), std::out_of_range);
  EXPECT_THROW((void)negative_log_likelihood(row, -1), std::out_of_range);
}

TEST(Logits, RowsCompared) {
  const std::vector<float> ours{1.0F, 2.0F, 4.0F};
  const std::vector<float> theirs{1.0F, 3.0F, 2.0F};
  const RowComparison row = compare_rows(std::span(ours), std::span(theirs));
  const double ps = std::exp(1.0) + std::exp(3.0) + std::exp(2.0);
  const double qs = std::exp(1.0) + std::exp(2.0) + std::exp(4.0);
  double kl = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double p = std::exp(double{theirs[i]}) / ps;
    const double q = std::exp(double{ours[i]}) / qs;
    kl += p * std::log(p / q);
  }
  EXPECT_NEAR(row.kl, kl, 1e-15);
  EXPECT_TRUE(row.flipped());
  EXPECT_EQ(row.ours, 2);
  EXPECT_EQ(row.theirs, 1);
  EXPECT_EQ(row.gap, 1.0);
  EXPECT_EQ(row.difference_squared, 5.0);
  EXPECT_EQ(row.theirs_squared, 14.0);
  EXPECT_NEAR(row.rms, std::sqrt(5.0 / 3 - 1.0 / 9), 1e-15);
  const std::vector<double> truth{1.0, 3.0, 2.0};
  EXPECT_EQ(compare_rows(std::span(ours), std::span(truth)).kl, row.kl);
  // A common offset is none.
  const std::vector<float> shifted{11.0F, 12.0F, 14.0F};
  EXPECT_NEAR(compare_rows(std::span(shifted), std::span<const float>(ours)).kl, 0, 1e-15);
  EXPECT_NEAR(compare_rows(std::span(shifted), std::span<const float>(ours)).rms, 0, 1e-7);
  const std::vector<float> nan{1.0F, std::numeric_limits<float>::quiet_NaN(), 0.0F};
  EXPECT_THROW((void)compare_rows(std::span(nan), std::span<const float>(ours)), std::invalid_argument);
  EXPECT_THROW((void)compare_rows(std::span(ours).first(2), std::span(theirs)), std::invalid_argument);
}

TEST(Logits, ComparisonsAddUp) {
  const std::vector<float> a{1.0F, 2.0F};
  const std::vector<float> b{2.0F, 1.0F};
  LogitsComparison all;
  all.add(3, compare_rows(std::span(a), std::span(a)));
  all.add(7, compare_rows(std::span(a), std::span(b)));
  EXPECT_EQ(all.rows(), 2);
  EXPECT_EQ(all.agreement(), 0.5);
  ASSERT_EQ(all.flips().size(), 1U);
  EXPECT_EQ(all.flips().front().position, 7);
  EXPECT_EQ(all.nmse(), 2.0 / 10.0);
  EXPECT_EQ(all.mean_kl(), all.largest_kl() / 2);
}

// Every token but the first once, and with half a context behind it from the second window on.
TEST(TextWindows, ScoreEachTokenOnce) {
  for (const std::int64_t context : {2, 3, 8, 100, 4096}) {
    for (const std::int64_t tokens : {2, 3, 7, 8, 9, 12, 13, 250, 4097}) {
      std::int64_t next = 1;
      for (const TextWindow& window : cut_windows(tokens, context)) {
        EXPECT_EQ(window.scored, next) << tokens << " by " << context;
        EXPECT_LT(window.scored, window.end);
        EXPECT_LE(window.end - window.first, context);
        EXPECT_TRUE(window.first == 0 || window.scored - window.first >= context / 2);
        next = window.end;
      }
      EXPECT_EQ(next, tokens) << context;
    }
  }
  EXPECT_THROW(cut_windows(1, 8), std::invalid_argument);
  EXPECT_THROW(cut_windows(8, 1), std::invalid_argument);
}

TEST(SiteErrors, KindsMediansAndTheWorst) {
  EXPECT_EQ(parse_site("layers.07.q_proj").op, "q_proj");
  EXPECT_EQ(parse_site("layers.07.attn_norm.quant").op, "attn_norm.quant");
  EXPECT_EQ(parse_site("final_norm").op, "final_norm");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<SiteRms> errors{
      {"a", "layers.00.attn", 1, 1, 2},   {"a", "layers.01.attn", 1, 3, 2},       {"b", "layers.00.attn", 1, 0, 0},
      {"b", "layers.01.attn", 1, 2, 2},   {"a", "layers.00.o_proj", 1, 1, 0},     {"b", "layers.00.o_proj", 1, 1, 4},
      {"a", "layers.00.q_proj", 1, 9, 1}, {"b", "layers.00.q_proj", nan, nan, 1},
  };
  const auto kinds = errors_by_kind(errors);
  ASSERT_EQ(kinds.size(), 3U);
  EXPECT_EQ(kinds[0].kind, "attn");
  EXPECT_EQ(kinds[0].sites, 4U);
  EXPECT_EQ(kinds[0].exact, 1U);
  EXPECT_EQ(kinds[0].median, 1.0);
  EXPECT_EQ(kinds[0].worst, 1.5);
  EXPECT_EQ(kinds[0].at, &errors[1]);
  EXPECT_TRUE(std::isinf(kinds[1].worst)) << "only the other is exact";
  EXPECT_EQ(kinds[2].at, &errors[7]) << "a NaN is worse than any";
  EXPECT_EQ(errors_over_all(errors).sites, 8U);
}

TEST(SiteErrors, RootMeanSquares) {
  const std::vector<float> values{3.0F, 4.0F};
  const std::vector<double> truth{0.0, 0.0};
  const Array a{DType::f32, {2, 1}, std::vector<std::uint8_t>(8)};
  Array b{DType::f32, {2}, std::vector<std::uint8_t>(8)};
  std::memcpy(b.bytes.data(), values.data(), 8);
  EXPECT_EQ(rms(a), 0);
  EXPECT_NEAR(rms(b), std::sqrt(12.5), 1e-15);
  EXPECT_NEAR(rms_difference(b, a), std::sqrt(12.5), 1e-15);
  EXPECT_THROW((void)rms_difference(b, {DType::f32, {1}, std::vector<std::uint8_t>(4)}), std::invalid_argument);
  EXPECT_THROW((void)rms({DType::q8_0, {1}, std::vector<std::uint8_t>(34)}), std::invalid_argument);
}

std::vector<std::int32_t> revelation(const ModelFile& model) {
  return Tokenizer(model.vocabulary()).encode(file_bytes(own_golden() / "texts" / "revelation-22.txt"));
}

EngineOptions options(std::int64_t context, std::int64_t chunk) {
  EngineOptions options;
  options.plan.context = context;
  options.plan.chunk = chunk;
  options.plan.all_logits = true;
  options.threads = 2;
  return options;
}

// Against the sum over tokens fed one by one, window for window.
TEST(TextEvaluation, PerplexityIsThatOfTokensOneByOne) {
  const ModelFile model(kjv());
  const auto tokens = revelation(model);
  ASSERT_EQ(tokens.size(), 724U);
  Engine engine(model, options(256, 64));
  const TextEvaluation found = evaluate_text(engine, nullptr, tokens);
  EXPECT_EQ(found.windows, 5);
  double sum = 0;
  std::int64_t scored = 0;
  for (const TextWindow& window : cut_windows(std::ssize(tokens), 256)) {
    engine.reset();
    for (std::int64_t i = window.first; i + 1 < window.end; ++i) {
      engine.feed(std::span(tokens).subspan(static_cast<std::size_t>(i), 1));
      if (i + 1 < window.scored) continue;
      sum += negative_log_likelihood(engine.logits(), tokens[static_cast<std::size_t>(i) + 1]);
      ++scored;
    }
  }
  EXPECT_EQ(found.ours.tokens(), scored);
  EXPECT_EQ(scored, 723);
  EXPECT_NEAR(found.ours.mean(), sum / 723, 1e-12);
  EXPECT_NEAR(found.ours.perplexity(), std::exp(sum / 723), 1e-9);
  EXPECT_GT(found.ours.standard_error(), 0);
}

TEST(TextEvaluation, AModelAgainstItselfAndAgainstAnother) {
  const ModelFile model(kjv());
  const ModelFile small(own_golden() / "models" / "kjv-Q4_K_M.gguf");
  const auto tokens = revelation(model);
  Engine engine(model, options(1024, 64));
  Engine same(model, options(1024, 17));
  Engine other(small, options(1024, 64));
  const TextEvaluation equal = evaluate_text(engine, &same, tokens);
  EXPECT_EQ(equal.other->logits.nmse(), 0) << "no bit depends on the chunk";
  EXPECT_EQ(equal.other->logits.agreement(), 1);
  EXPECT_EQ(equal.other->likelihood.mean(), equal.ours.mean());
  const TextEvaluation found = evaluate_text(other, &engine, tokens);
  EXPECT_EQ(found.other->logits.rows(), 723);
  EXPECT_GT(found.other->logits.mean_kl(), 1e-3);
  EXPECT_LT(found.other->logits.mean_kl(), 2e-2);
  EXPECT_FALSE(found.other->logits.flips().empty());
  Engine shorter(small, options(512, 64));
  EXPECT_THROW(evaluate_text(engine, &shorter, tokens), std::invalid_argument);
  const ModelFile tiny(own_golden() / "models" / "tiny-a-Q4_K_M.gguf");
  Engine stranger(tiny, options(1024, 64));
  EXPECT_THROW(evaluate_text(engine, &stranger, tokens), std::invalid_argument);
}

TEST(TraceEvaluation, ATieIsAGapWithinTheError) {
  PromptEvaluation prompt;
  prompt.logits_rms = 0.1;
  EXPECT_FALSE(prompt.greedy_is_tie()) << "no greedy text";
  prompt.greedy = GreedyComparison{10, 3, 1, 2, 0.2, 0.05};
  EXPECT_TRUE(prompt.greedy_is_tie());
  prompt.greedy->our_gap = 0.25;
  EXPECT_FALSE(prompt.greedy_is_tie());
  prompt.greedy->our_gap = 0;
  prompt.greedy->equal = 10;
  EXPECT_FALSE(prompt.greedy_is_tie()) << "they do not part";
}

// A trace may keep some sites, blocks among them, and leave logits out.
TEST(TraceEvaluation, WhatIsNotComparedIsListed) {
  const ModelFile model(own_golden() / "models" / "kjv-Q4_K_M.gguf");
  Engine engine(model, options(64, 64));
  const TracePrompt prompt{"p", "", {5, 6, 7}, {1, 2}, {}, GreedyText{{4096}, {0.5F}}};
  SiteRows rows(prompt.positions);
  engine.feed(prompt.tokens, Logits::all, &rows);
  const TemporaryFolder folder;
  const auto write = [&](const char* name, std::vector<std::string> sites, bool greedy) {
    TraceWriter writer(folder.path() / name, {"kjv", "Q4_K_M", "-", "assay", "f64", "float32", "-", "-", "-", "-"});
    writer.open_prompt(prompt);
    for (std::size_t i = 0; i < sites.size(); ++i) {
      const Array& array = rows.at(sites[i] == "elsewhere" ? "embed" : sites[i]);
      writer.declare({sites[i], array.dtype, {array.shape.begin() + 1, array.shape.end()}, static_cast<std::int64_t>(i)});
      writer.append(sites[i], std::span(array.bytes));
    }
    if (greedy) writer.set_greedy(*prompt.greedy, "");
    writer.commit();
    return TraceFile(folder.path() / name);
  };
  const TraceFile some = write("some.h5", {"embed", "layers.00.attn_norm.quant", "elsewhere"}, false);
  const PromptEvaluation found = evaluate_prompt(engine, some, "p", nullptr, nullptr);
  EXPECT_EQ(found.sites.size(), 1U);
  EXPECT_TRUE(found.sites.front().exact());
  EXPECT_EQ(found.apart, (std::vector<std::string>{"layers.00.attn_norm.quant", "elsewhere"}));
  EXPECT_EQ(found.logits.rows(), 0);
  EXPECT_THROW(evaluate_prompt(engine, write("none.h5", {"elsewhere"}, false), "p", nullptr, nullptr), std::invalid_argument);
  EXPECT_THROW(evaluate_prompt(engine, write("token.h5", {"embed"}, true), "p", nullptr, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace assay::eval_test
