// Traces: those of golden/traces are whole and agree with one another as their READMEs and the figures say; refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "golden/trace.h"
#include "harness/verdict/suite.h"
#include "tests/refusals.h"
#include "tests/temporary.h"

namespace assay::traces_test {
namespace {

std::filesystem::path traces() {
  return own_golden() / "traces";
}

std::vector<double> values(const TraceFile& file, const TracePrompt& prompt, const std::string& site) {
  return file.site(prompt, site).numbers();
}

// |a - b| / |b| in the Euclidean norm.
double relative_error(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double error = 0;
  double size = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    error += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return std::sqrt(error / size);
}

// Every trace, every prompt: each site of each layer once, rows as positions says.
TEST(Traces, AreWhole) {
  const std::set<std::string> per_layer{"attn_norm", "q_proj",  "k_proj", "v_proj",    "q_norm",        "k_norm",
                                        "q_rope",    "k_rope",  "attn",   "o_proj",    "attn_residual", "ffn_norm",
                                        "gate_proj", "up_proj", "swiglu", "down_proj", "ffn_residual"};
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(traces())) {
    if (entry.is_directory()) continue;  // altered/: of some sites alone
    const TraceFile file(entry.path());
    ++files;
    for (const char* key : {"model", "weights", "model_sha256", "recipe", "rope", "dtype", "generator", "source", "licence"}) {
      EXPECT_FALSE(file.head(key).empty()) << entry.path() << " " << key;
    }
    const std::size_t layers = file.head("model") == "kjv" ? 6 : 4;
    for (const std::string& name : file.prompts()) {
      const TracePrompt prompt = file.prompt(name);
      ASSERT_EQ(prompt.sites.size(), 3 + layers * per_layer.size()) << entry.path() << " " << name;
      EXPECT_EQ(prompt.sites.front(), "embed");
      EXPECT_EQ(prompt.sites[prompt.sites.size() - 2], "final_norm");
      for (const std::string& site : prompt.sites) {
        EXPECT_TRUE(!site.starts_with("layers.") || per_layer.contains(site.substr(10))) << site;
        const Array array = file.site(prompt, site);
        EXPECT_EQ(array.shape.front(), std::ssize(prompt.positions)) << site;
        EXPECT_GT(array.elements(), 0) << site;
      }
    }
  }
  EXPECT_EQ(files, 9U);
}

// Hugging Face in fp32 is within 2.5e-5 of the definition at every site, in bf16 within 2.2e-2, and not nearer than its type.
TEST(Traces, HuggingFaceAgreesWithTheDefinition) {
  struct Expected {
    const char* file;
    double most, least;  // the worst site's error
  };
  const TraceFile truth(traces() / "kjv-f64.h5");
  for (const Expected& expected : {Expected{"kjv-hf-f32.h5", 2.6e-5, 1e-6}, Expected{"kjv-hf-bf16.h5", 2.3e-2, 1e-3}}) {
    const TraceFile file(traces() / expected.file);
    EXPECT_EQ(file.head("model_sha256"), truth.head("model_sha256"));
    double worst = 0;
    for (const std::string& name : truth.prompts()) {
      const TracePrompt ours = truth.prompt(name);
      const TracePrompt theirs = file.prompt(name);
      EXPECT_EQ(ours.tokens, theirs.tokens) << name;
      EXPECT_EQ(ours.positions, theirs.positions) << name;
      EXPECT_EQ(ours.text, theirs.text) << name;
      EXPECT_FALSE(ours.text.empty());
      for (const std::string& site : ours.sites) {
        worst = std::max(worst, relative_error(values(file, theirs, site), values(truth, ours, site)));
      }
    }
    EXPECT_LT(worst, expected.most) << expected.file;
    EXPECT_GT(worst, expected.least) << expected.file;
  }
}

TEST(Traces, GreedyTextLeavesBf16AtToken66OfPsalm) {
  const TraceFile f32(traces() / "kjv-hf-f32.h5");
  const TraceFile bf16(traces() / "kjv-hf-bf16.h5");
  for (const auto& [name, length] : {std::pair{"genesis", 200U}, std::pair{"psalm", 200U}, std::pair{"long", 100U}}) {
    const auto greedy = f32.prompt(name).greedy;
    ASSERT_TRUE(greedy) << name;
    EXPECT_EQ(greedy->tokens.size(), length) << name;
    EXPECT_GE(*std::min_element(greedy->gap.begin(), greedy->gap.end()), 6.9e-4F) << name;
  }
  const auto a = f32.prompt("psalm").greedy->tokens;
  const auto b = bf16.prompt("psalm").greedy->tokens;
  EXPECT_EQ(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin(), 66);
  EXPECT_FALSE(f32.prompt("chat").greedy);
}

// llama.cpp in F16 is near the definition over the same prompt; its sites have the names of ours.
TEST(Traces, LlamaCppsSitesAreOurs) {
  const TraceFile truth(traces() / "kjv-f64.h5");
  const TraceFile llama(traces() / "kjv-llama-f16.h5");
  const TracePrompt ours = truth.prompt("genesis");
  const TracePrompt theirs = llama.prompt("genesis");
  EXPECT_EQ(ours.tokens, theirs.tokens);
  EXPECT_EQ(std::set(ours.sites.begin(), ours.sites.end()), std::set(theirs.sites.begin(), theirs.sites.end()));
  for (const std::string& site : ours.sites) {
    EXPECT_LT(relative_error(values(llama, theirs, site), values(truth, ours, site)), 5e-3) << site;
  }
}

std::string refusal_of(const std::filesystem::path& path) {
  return message_of([&] {
    const TraceFile file(path);
    for (const std::string& name : file.prompts()) file.prompt(name);
  });
}

TEST(Traces, PositionsAscend) {
  const auto refused = [](std::vector<std::int32_t> positions) {
    bool told = false;
    TracePrompt prompt;
    prompt.tokens = {5, 6, 7, 8};
    prompt.positions = std::move(positions);
    check_trace_rows(prompt, [&](const std::string&, const std::string&) { told = true; });
    return told;
  };
  EXPECT_FALSE(refused({0, 1, 3}));
  EXPECT_TRUE(refused({0, 1, 1}));
  EXPECT_TRUE(refused({2, 1}));
  EXPECT_TRUE(refused({-1, 0}));
  EXPECT_TRUE(refused({0, 4}));
}

TEST(Traces, RefusalsNameFileAndReason) {
  EXPECT_NE(refusal_of(own_golden() / "ops" / "add.h5").find("no string attribute 'kind'"), std::string::npos);
  const TemporaryFolder folder;
  const auto newer = folder.path() / "newer.h5";
  std::filesystem::copy_file(traces() / "kjv-llama-f16.h5", newer);
  set_integer_attribute(newer, "schema", 2);
  expect_mentions(refusal_of(newer), {"newer.h5: /: schema 2; this program reads 1"});
  const TraceFile file(traces() / "kjv-f64.h5");
  EXPECT_THROW(file.prompt("exodus"), Hdf5Error);
  EXPECT_THROW(file.site(file.prompt("genesis"), "layers.06.attn"), Hdf5Error);
}

}  // namespace
}  // namespace assay::traces_test
