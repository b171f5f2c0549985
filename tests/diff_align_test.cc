// What two traces do not have in common: listed first, never trimmed; and the program's manners around it.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/forensics/diff/diff.h"
#include "harness/forensics/diff/report.h"
#include "tests/diff_support.h"
#include "tests/temporary.h"

namespace assay::diff::diff_align_test {
namespace {

using Lines = std::vector<std::string>;

bool keep_all(const std::string&, Array&) {
  return true;
}

// genesis of kjv-hf-f32, changed.
struct Changed {
  explicit Changed(const ChangeSite& change) : path(folder.path() / "changed.h5") {
    copy_trace(golden_trace("kjv-hf-f32"), path, {"genesis"}, change);
  }
  TemporaryFolder folder;
  std::filesystem::path path;
};

PromptDiff against_truth(const std::filesystem::path& ours, const std::string& sites = "") {
  DiffOptions options;
  options.sites = sites;
  return compare_traces(TraceFile(ours), TraceFile(golden_trace("kjv-f64")), nullptr, options).prompts.at(0);
}

void keep_columns(Array& values, std::int64_t columns) {
  const std::int64_t rows = values.shape.front();
  const auto size = static_cast<std::int64_t>(dtype_size(values.dtype));
  const std::int64_t length = values.elements() / rows;
  std::vector<std::uint8_t> out;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto* from = values.bytes.data() + row * length * size;
    out.insert(out.end(), from, from + columns * size);
  }
  values.bytes = out;
  values.shape = {rows, columns};
}

TEST(DiffAlign, AMissingSiteIsAnErrorAndTheRestIsCompared) {
  const Changed changed([](const std::string& site, Array&) { return site != "layers.02.attn" && site != "lm_head"; });
  const PromptDiff prompt = against_truth(changed.path);
  EXPECT_EQ(prompt.alignment.problems, (Lines{"layers.02.attn: in B alone, missing in A", "lm_head: in B alone, missing in A"}));
  EXPECT_EQ(prompt.errors.size(), 103U);
  EXPECT_TRUE(prompt.divergences().empty());
  EXPECT_FALSE(prompt.logits);
  // The other way round it is an extra one.
  const TraceDiff extra = compare_traces(TraceFile(golden_trace("kjv-f64")), TraceFile(changed.path), nullptr, {});
  const auto genesis =
      std::find_if(extra.prompts.begin(), extra.prompts.end(), [](const PromptDiff& one) { return one.name == "genesis"; });
  EXPECT_EQ(genesis->alignment.problems,
            (Lines{"layers.02.attn: in A alone, missing in B", "lm_head: in A alone, missing in B"}));
  EXPECT_FALSE(extra.aligned());
}

// Its neighbours' inputs are gone with it: the site before stands for them.
TEST(DiffAlign, AFaultIsFoundWhereInputsAreMissing) {
  const From wrong(golden_trace("kjv-hf-f32"), "genesis", "layers.03.gate_proj");
  const Changed changed([&](const std::string& site, Array& values) {
    if (wrong(site)) disturb(values, 1e-3);
    return site != "layers.03.ffn_norm";
  });
  const PromptDiff prompt = against_truth(changed.path);
  ASSERT_FALSE(prompt.divergences().empty());
  EXPECT_EQ(prompt.errors[prompt.divergences().front()].site, "layers.03.gate_proj");
  EXPECT_EQ(prompt.growth[prompt.divergences().front()].inputs, Lines{"layers.03.attn_residual"});
}

TEST(DiffAlign, AnotherShapeIsAnErrorEvenOfAsManyNumbers) {
  const Changed fewer([](const std::string& site, Array& values) {
    if (site == "layers.01.q_proj") keep_columns(values, 100);
    return true;
  });
  EXPECT_EQ(against_truth(fewer.path).alignment.problems.size(), 1U);
  EXPECT_EQ(against_truth(fewer.path).alignment.problems.front(), "layers.01.q_proj: [rows, 100] in A, [rows, 512] in B");
  const Changed flat([](const std::string& site, Array& values) {
    if (site == "layers.01.q_rope") values.shape = {14, 512};
    return true;
  });
  EXPECT_EQ(against_truth(flat.path).alignment.problems, Lines{"layers.01.q_rope: [rows, 512] in A, [rows, 4, 128] in B"});
}

TEST(DiffAlign, SitesOfAssayAloneAreNoError) {
  const TemporaryFolder folder;
  const TraceFile source(golden_trace("kjv-hf-f32"));
  TraceWriter writer(folder.path() / "own.h5",
                     {"kjv", "bf16", source.head("model_sha256"), "assay", "f64", "float32", "t", "1", "s", "l"});
  const TracePrompt prompt = source.prompt("genesis");
  writer.open_prompt(prompt);
  std::int64_t step = 0;
  const std::vector<TraceSite> own{{"rope_table", DType::f32, {2}, 1000},
                                   {"layers.00.kv_store", DType::f16, {2}, 1001},
                                   {"layers.00.attn_norm.quant", DType::q8_0, {2}, 1002}};
  for (const TraceSite& site : own) {
    writer.declare(site);
    writer.append(site.name,
                  std::span<const std::uint8_t>(std::vector<std::uint8_t>(static_cast<std::size_t>(14 * site.row_bytes()))));
  }
  for (const std::string& site : prompt.sites) {
    const Array values = source.site(prompt, site);
    writer.declare({site, values.dtype, {values.shape.begin() + 1, values.shape.end()}, step++});
    writer.append(site, std::span<const std::uint8_t>(values.bytes));
  }
  writer.commit();
  const PromptDiff diff = against_truth(folder.path() / "own.h5");
  EXPECT_TRUE(diff.aligned());
  EXPECT_EQ(diff.alignment.own, (Lines{"rope_table (A)", "layers.00.kv_store (A)", "layers.00.attn_norm.quant (A)"}));
  EXPECT_EQ(diff.errors.size(), 105U);
}

// kjv-llama-f16 keeps all rows; a copy keeps the last four.
TEST(DiffAlign, RowsOfOneAloneAreListed) {
  const TemporaryFolder folder;
  const TraceFile source(golden_trace("kjv-hf-f32"));
  TracePrompt prompt = source.prompt("genesis");
  TraceWriter writer(folder.path() / "last.h5", {"kjv", "bf16", "x", "hf", "hf", "float32", "t", "1", "s", "l"});
  const std::vector<std::string> sites = prompt.sites;
  const TracePrompt whole = prompt;
  prompt.name = "last";
  prompt.positions = {2, 3, 10, 13};
  writer.open_prompt(prompt);
  std::int64_t step = 0;
  for (const std::string& site : sites) {
    const Array values = source.site(whole, site);
    const TraceSite declared{site, values.dtype, {values.shape.begin() + 1, values.shape.end()}, step++};
    writer.declare(declared);
    for (const std::int32_t row : prompt.positions) {
      writer.append(site, std::span(values.bytes)
                              .subspan(static_cast<std::size_t>(row * declared.row_bytes()),
                                       static_cast<std::size_t>(declared.row_bytes())));
    }
  }
  writer.commit();
  const PromptDiff diff = against_truth(folder.path() / "last.h5");
  EXPECT_TRUE(diff.aligned());
  EXPECT_EQ(diff.called, "B: genesis");  // found by its tokens
  EXPECT_EQ(diff.alignment.positions, (std::vector<std::int32_t>{2, 3, 10, 13}));
  EXPECT_EQ(diff.kept, (std::vector<std::int64_t>{4, 14}));
  ASSERT_EQ(diff.alignment.lone.size(), 1U);
  EXPECT_EQ(diff.alignment.lone[0].sides, "B");
  EXPECT_EQ(ranges_text(diff.alignment.lone[0].positions), "0-1, 4-9, 11-12");
  EXPECT_TRUE(diff.divergences().empty());
  EXPECT_EQ(diff.errors.size(), 105U);
}

TEST(DiffAlign, OtherTokensAreAnError) {
  const TemporaryFolder folder;
  TraceWriter writer(folder.path() / "other.h5", {"kjv", "bf16", "x", "hf", "hf", "float32", "t", "1", "s", "l"});
  TracePrompt prompt = TraceFile(golden_trace("kjv-hf-f32")).prompt("genesis");
  const std::int32_t right = prompt.tokens[3];
  prompt.tokens[3] = right + 1;
  writer.open_prompt(prompt);
  const TraceSite site{"embed", DType::f32, {256}, 0};
  writer.declare(site);
  writer.append("embed",
                std::span<const std::uint8_t>(std::vector<std::uint8_t>(static_cast<std::size_t>(14 * site.row_bytes()))));
  writer.commit();
  const PromptDiff diff = against_truth(folder.path() / "other.h5");
  EXPECT_EQ(diff.alignment.problems.front(),
            "tokens: token 3 is " + std::to_string(right + 1) + " in A, " + std::to_string(right) + " in B");
  EXPECT_TRUE(diff.errors.empty());
}

TEST(DiffAlign, AGlobChoosesSites) {
  const Changed changed([](const std::string& site, Array&) { return site.starts_with("layers.02."); });
  EXPECT_FALSE(against_truth(changed.path).aligned());
  const PromptDiff prompt = against_truth(changed.path, "layers.02.*");
  EXPECT_TRUE(prompt.aligned());
  EXPECT_EQ(prompt.errors.size(), 17U);
  EXPECT_EQ(prompt.alignment.left_out, 88);
  EXPECT_TRUE(prompt.divergences().empty());
  EXPECT_FALSE(against_truth(changed.path, "layers.09.*").aligned());  // nothing is compared
}

TEST(DiffAlign, PromptsOfOneAloneAreNoted) {
  const Changed changed(keep_all);
  const TraceDiff diff = compare_traces(TraceFile(changed.path), TraceFile(golden_trace("kjv-f64")), nullptr, {});
  EXPECT_EQ(diff.prompts.size(), 1U);
  EXPECT_EQ(
      std::count_if(diff.notes.begin(), diff.notes.end(), [](const std::string& note) { return note.starts_with("prompt "); }),
      5);
  EXPECT_THROW(compare_traces(TraceFile(golden_trace("tiny-a-llama-f16")), TraceFile(golden_trace("kjv-f64")), nullptr, {}),
               std::invalid_argument);
}

struct Ran {
  int status = -1;
  std::string output;
};

Ran assay_diff(const std::string& arguments) {
  const char* program = std::getenv("ASSAY_PROGRAM");
  Ran ran;
  std::FILE* pipe = popen((std::string(program == nullptr ? "assay" : program) + " diff " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return ran;
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) ran.output.append(buffer, got);
  const int status = pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

TEST(DiffProgram, ExitsByWhatItFound) {
  const std::string truth = golden_trace("kjv-f64").string();
  const Ran right = assay_diff(golden_trace("kjv-hf-f32").string() + " " + truth + " --brief");
  EXPECT_EQ(right.status, 0) << right.output;
  EXPECT_NE(right.output.find("no divergence: 6 prompts, 630 comparisons of a site"), std::string::npos) << right.output;
  const Changed wrong([](const std::string& site, Array& values) {
    if (site == "layers.03.gate_proj") disturb(values, 1e-3);
    return true;
  });
  const Ran diverged = assay_diff(wrong.path.string() + " " + truth + " --json");
  EXPECT_EQ(diverged.status, 1);
  const auto json = nlohmann::json::parse(diverged.output);
  EXPECT_TRUE(json.at("diverged").get<bool>());
  EXPECT_EQ(json.at("prompts").at(0).at("first_divergence"), "layers.03.gate_proj");
  EXPECT_EQ(json.at("prompts").at(0).at("sites").size(), 105U);
  const Changed missing([](const std::string& site, Array&) { return site != "layers.02.attn"; });
  const Ran unaligned = assay_diff(missing.path.string() + " " + truth);
  EXPECT_EQ(unaligned.status, 2);
  const std::size_t problem = unaligned.output.find("not aligned: prompt genesis: layers.02.attn: in B alone");
  EXPECT_LT(problem, unaligned.output.find("layers.00.attn_norm")) << unaligned.output;
  EXPECT_EQ(assay_diff(truth + " /nowhere.h5").status, 2);
  const Ran no_prompt = assay_diff(truth + " " + truth + " --prompt genesys");
  EXPECT_EQ(no_prompt.status, 2);
  EXPECT_NE(no_prompt.output.find("the nearest is 'genesis'"), std::string::npos) << no_prompt.output;
}

}  // namespace
}  // namespace assay::diff::diff_align_test
