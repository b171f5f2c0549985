// Programs in C that `assay plan --c` writes: the engine's bits, parts of a model, traces that say which site is wrong.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/model/model_file.h"
#include "harness/interop/import/array_file.h"
#include "harness/plan_c/emit_model.h"
#include "kernels/isa.h"
#include "tests/engine_support.h"
#include "tests/plan_c_support.h"
#include "tests/program.h"

namespace assay::plan_c_test {
namespace {

constexpr std::size_t kPrompt = 14;
constexpr std::size_t kDecoded = 32;

// Of one thread: the logits after the prompt, and the tokens that follow it, as main prints them.
struct Lines {
  std::vector<std::string> logits;
  std::vector<std::string> tokens;
};

std::string number_text(float value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", static_cast<double>(value));
  return text.data();
}

Lines engine_lines(const std::filesystem::path& model, const std::vector<std::int32_t>& prompt, const PlanOptions& options) {
  const ModelFile file(model);
  Engine engine(file, {options, 1});
  Lines lines;
  engine.feed(prompt);
  for (const float logit : engine.logits()) lines.logits.push_back(number_text(logit));
  for (std::size_t i = 0; i < kDecoded; ++i) {
    const std::span<const float> logits = engine.logits();
    const std::int32_t next = static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin());
    lines.tokens.push_back(std::to_string(next));
    engine.feed({&next, 1});
  }
  return lines;
}

void expect_lines(const CProgram& program, const std::vector<std::int32_t>& prompt, const Lines& expected,
                  const std::string& environment) {
  EXPECT_EQ(program.run(ids_text(prompt), environment), expected.logits) << environment;
  EXPECT_EQ(program.run("-n " + std::to_string(kDecoded) + " " + ids_text(prompt), environment), expected.tokens) << environment;
}

void expect_lines_by_each_isa(const CProgram& program, const std::vector<std::int32_t>& prompt, const Lines& expected) {
  for (const Isa isa : isas_here()) expect_lines(program, prompt, expected, "ASSAY_ISA=" + std::string(isa_name(isa)));
}

class PlanC : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_build_c()) GTEST_SKIP() << "no C compiler, or kernels with sanitizers in them";
  }
};

// A long prompt by the best kernels, a short one by those of each ISA, and what follows it.
TEST_F(PlanC, TheEnginesBits) {
  const PlanOptions options{.context = 512, .chunk = 512};
  for (const char* const name : {"bf16-folder", "q4_k_m-llama.cpp", "q8_0", "odd-q4_k_m", "odd-f16"}) {
    SCOPED_TRACE(name);
    const std::filesystem::path& model = test_model(name);
    const CProgram program(model, {"--context", "512"});
    program.build("-pedantic");
    std::vector<std::int32_t> prompt = prompt_tokens("long", 382);
    const std::int64_t vocab = ModelFile(model).config().vocab;
    for (std::int32_t& token : prompt) token = static_cast<std::int32_t>(token % vocab);
    EXPECT_EQ(program.run(ids_text(prompt)), engine_lines(model, prompt, options).logits);
    prompt.resize(kPrompt);
    expect_lines_by_each_isa(program, prompt, engine_lines(model, prompt, options));
  }
}

// A cache of f16, a window, other angles, passes of 16, 16 and 10 tokens: what else a plan may say.
TEST_F(PlanC, TheEnginesBitsOfOtherPlans) {
  const std::filesystem::path& model = test_model("q4_k_m-llama.cpp");
  const CProgram program(model, {"--context", "128", "--chunk", "16", "--kv-type", "f16", "--window", "20", "--rope", "hf"});
  program.build();
  const std::vector<std::int32_t> prompt = prompt_tokens("long", 42);
  const PlanOptions options{.context = 128, .chunk = 16, .kv_type = KvType::f16, .window = 20, .rope = ASSAY_ROPE_HF};
  expect_lines_by_each_isa(program, prompt, engine_lines(model, prompt, options));
}

TEST_F(PlanC, ThreadsShareTheSteps) {
  const std::vector<std::int32_t> prompt = prompt_tokens("long", 42);
  for (const char* const name : {"bf16-folder", "q4_k_m-llama.cpp"}) {
    const std::filesystem::path& model = test_model(name);
    const CProgram program(model, {"--context", "128", "--chunk", "32", "--c-threads", "openmp"});
    program.build("-fopenmp");
    const Lines expected = engine_lines(model, prompt, {.context = 128, .chunk = 32});
    for (const char* const threads : {"2", "3"})
      expect_lines(program, prompt, expected, std::string("OMP_WAIT_POLICY=passive OMP_NUM_THREADS=") + threads);
  }
}

// The embedded model is read in one sitting: all that a person wrote or the plan became.
TEST_F(PlanC, TheEmbeddedModelIsShort) {
  for (const char* const name : {"bf16-folder", "q4_k_m-llama.cpp", "q8_0"}) {
    const CProgram program(test_model(name), {});
    std::ptrdiff_t lines = 0;
    for (const auto& file : std::filesystem::directory_iterator(program.folder())) {
      if (file.path().filename() != "weights.bin") lines += std::ranges::count(file_bytes(file.path()), '\n');
    }
    EXPECT_LT(lines, 2000) << name;
    EXPECT_GT(lines, 1000) << name;
  }
}

// The verdict of `assay audit` over what a program traced: its exit code, and the sites that are wrong.
struct Audited {
  int status;
  std::vector<std::string> wrong;
  int judged;
};

Audited audit(const CProgram& program, const std::filesystem::path& model) {
  const std::string trace = (program.folder() / "run").string();
  const Ran imported =
      run_assay({"import", "safetensors", trace + ".safetensors", "--map", trace + ".json", "-o", trace + ".h5"});
  EXPECT_EQ(imported.status, 0) << imported.err;
  const Ran ran = run_assay({"audit", model.string(), trace + ".h5", "--json"});
  Audited audited{ran.status, {}, 0};
  const nlohmann::json verdict = nlohmann::json::parse(ran.out);
  for (const auto& site : verdict["prompts"][0]["sites"]) {
    if (site["verdict"] == "wrong") audited.wrong.push_back(site["site"]);
    if (site["verdict"] != "not judged") ++audited.judged;
  }
  return audited;
}

// The first offset in the weights that the function names under the site, moved on by `bytes`.
std::string with_wrong_offset(std::string source, const std::string& function, const std::string& site, std::int64_t bytes) {
  const std::size_t at =
      source.find("W(", source.find("\"" + site + "\");", source.find("static void " + function + "(Run* run"))) + 2;
  const std::size_t end = source.find_first_not_of("0123456789", at);
  return source.replace(at, end - at, std::to_string(std::stoll(source.substr(at, end - at)) + bytes));
}

TEST_F(PlanC, AWrongOffsetIsFoundByTheTrace) {
  const std::filesystem::path& model = test_model("bf16-folder");
  const CProgram program(model, {"--context", "128", "--chunk", "16", "--all-rows"});
  const std::string right = program.source();
  const std::string command = "-n 4 --trace run.safetensors " + ids_text(prompt_tokens("long", kPrompt));
  program.build();
  (void)program.run(command);
  const Audited fine = audit(program, model);
  EXPECT_EQ(fine.status, 0);
  EXPECT_EQ(fine.judged, 105);
  for (const auto& [function, site] : {std::pair{"decode", "layers.02.q_norm"}, std::pair{"prefill", "layers.04.up_proj"}}) {
    const std::string wrong = with_wrong_offset(right, function, site, 64);
    ASSERT_NE(wrong, right);
    program.rewrite(wrong);
    program.build();
    (void)program.run(command);
    const Audited found = audit(program, model);
    EXPECT_EQ(found.status, 1) << function;
    EXPECT_EQ(found.wrong, std::vector<std::string>{site}) << function;
  }
}

// What a program's trace has of the sites whose names begin so, name by name.
std::map<std::string, std::vector<std::uint8_t>> site_bytes(const CProgram& program, const std::string& begin) {
  const auto arrays = open_safetensors(program.folder() / "run.safetensors");
  std::map<std::string, std::vector<std::uint8_t>> bytes;
  for (std::size_t i = 0; i < arrays->arrays().size(); ++i) {
    const std::string& name = arrays->arrays()[i].name;
    if (name.starts_with(begin)) bytes[name] = arrays->read(i);
  }
  EXPECT_EQ(bytes.size(), 17U);
  return bytes;
}

// Fed with the whole's rows, some layers give what they give in the whole.
TEST_F(PlanC, APartGivesTheWholesRows) {
  const std::filesystem::path& model = test_model("q4_k_m-llama.cpp");
  const std::string ids = ids_text(prompt_tokens("long", 20));
  const CProgram whole(model, {"--context", "128", "--chunk", "16", "--all-rows"});
  whole.build();
  (void)whole.run("--trace run.safetensors " + ids);
  EXPECT_EQ(audit(whole, model).status, 0);
  const auto expect_part = [&](const std::string& layers, int sites) {
    const CProgram part(model, {"--context", "128", "--chunk", "16", "--layers", layers});
    part.build();
    (void)part.run("--input " + (whole.folder() / "run.safetensors").string() + " --trace run.safetensors");
    const Audited audited = audit(part, model);
    EXPECT_EQ(audited.status, 0) << layers;
    EXPECT_EQ(audited.judged, sites) << layers;
    EXPECT_EQ(site_bytes(part, "layers." + layers.substr(0, 2)), site_bytes(whole, "layers." + layers.substr(0, 2))) << layers;
  };
  expect_part("00", 18);  // the embedding is judged by its tokens
  expect_part("02-04", 51);
  expect_part("05", 17);
}

struct Refusal {
  std::vector<std::string> options;
  const char* message;
};

TEST(PlanCRefusals, NothingIsLeft) {
  const Refusal refusals[] = {
      {{"--kv", "paged"}, "expected --kv contiguous, not paged"},
      {{"--chunk", "8"}, "passes of 8 tokens; as C a chunk, and the context, of at least 16"},
      {{"--context", "8"}, "passes of 8 tokens"},
      {{"--layers", "5-6"}, "layers 5-6; the model has 0 .. 5"},
      {{"--layers", "3-2"}, "layers 3-2; the model has 0 .. 5"},
      {{"--layers", "two"}, "--layers 'two': expected layers as in 2-4 or 2"},
      {{"--c-threads", "pthreads"}, "--c-threads"},
  };
  for (const Refusal& refusal : refusals) {
    const TemporaryFolder temporary;
    const std::filesystem::path folder = temporary.path() / "program";
    std::vector<std::string> words{"plan", test_model("bf16-folder").string(), "--c", folder.string()};
    words.insert(words.end(), refusal.options.begin(), refusal.options.end());
    const Ran ran = run_assay(words);
    EXPECT_EQ(ran.status, 2) << refusal.message;
    EXPECT_NE(ran.err.find(refusal.message), std::string::npos) << ran.err;
    EXPECT_FALSE(std::filesystem::exists(folder)) << refusal.message;
  }
  const Ran without = run_assay({"plan", test_model("bf16-folder").string(), "--layers", "1"});
  EXPECT_EQ(without.status, 2);
  EXPECT_NE(without.err.find("--c"), std::string::npos) << without.err;
}

// A name out of a stranger's file ends neither a string nor a comment.
TEST(PlanCRefusals, ANameIsWordsAlone) {
  const ModelFile file(test_model("bf16-folder"));
  const Plan plan = make_plan(file.config(), file.weights(), {});
  const std::string text = emit_model(plan, lay_out(plan), {.name = "a\"*/\\\n?\xff b", .weights_type = "bf16"});
  EXPECT_NE(text.find(".name = \"a__/____ b\","), std::string::npos);
  EXPECT_EQ(text.find("a__/____ b, bf16:"), 3U);
}

TEST(PlanCRefusals, WhatIsThereIsLeftAlone) {
  const TemporaryFolder temporary;
  const std::filesystem::path mine = temporary.path() / "model.c";
  std::ofstream(mine) << "mine\n";
  const Ran ran = run_assay({"plan", test_model("bf16-folder").string(), "--c", temporary.path().string()});
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.err.find("is there and not empty; expected a new folder"), std::string::npos) << ran.err;
  EXPECT_EQ(file_bytes(mine), "mine\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(temporary.path()), {}), 1);
}

}  // namespace
}  // namespace assay::plan_c_test
