// `assay eval` as a command: what it prints, its JSON, its exit codes. Runs the program that ASSAY_PROGRAM names.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/verdict/suite.h"
#include "tests/temporary.h"

namespace assay::eval_command_test {
namespace {

struct Ran {
  int status = -1;
  std::string output;  // standard output, then standard error
};

Ran eval(const std::string& arguments, const std::string& errors = "2>&1") {
  Ran ran;
  const char* program = std::getenv("ASSAY_PROGRAM");
  const std::string command = "'" + std::string(program == nullptr ? "assay" : program) + "' eval " + arguments + " " + errors;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) ran.output.append(buffer.data(), got);
  const int status = pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

std::string quoted(const std::filesystem::path& path) {
  return "'" + path.string() + "'";
}

std::string trace(const char* name) {
  return quoted(own_golden() / "traces" / name);
}

TEST(EvalCommand, WithoutArgumentsTheEmbeddedModelOnItsText) {
  const Ran ran = eval("");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_NE(ran.output.find("724 tokens, 1 window"), std::string::npos) << ran.output;
  EXPECT_NE(ran.output.find("perplexity"), std::string::npos) << ran.output;
}

TEST(EvalCommand, TheTableOfRatios) {
  const std::string arguments = "--against " + trace("kjv-f64.h5") + " --beside " + trace("kjv-hf-f32.h5");
  const Ran ran = eval(arguments);
  EXPECT_EQ(ran.status, 0) << ran.output;
  for (const char* part : {"RMS(ours - truth) / RMS(other - truth)", "down_proj", "\nall "}) {
    EXPECT_NE(ran.output.find(part), std::string::npos) << part << ran.output;
  }
  const auto json = nlohmann::json::parse(eval(arguments + " --json", "").output);
  EXPECT_EQ(json.at("schema"), 1);
  EXPECT_EQ(json.at("all").at("count"), 630);
  EXPECT_LT(json.at("all").at("median").get<double>(), 1);
  EXPECT_EQ(json.at("kinds").size(), 20U);
  EXPECT_EQ(json.at("prompts").size(), 6U);
  EXPECT_EQ(json.at("prompts").at(0).at("same_tokens"), true);
}

TEST(EvalCommand, GreedyTextAndItsTie) {
  const auto json = nlohmann::json::parse(eval("--against " + trace("kjv-hf-bf16.h5") + " --json", "").output);
  for (const auto& prompt : json.at("prompts")) {
    if (!prompt.contains("greedy")) continue;
    const bool psalm = prompt.at("prompt") == "psalm";
    EXPECT_EQ(prompt.at("greedy").at("equal"), psalm ? nlohmann::json(66) : prompt.at("greedy").at("tokens"));
    EXPECT_EQ(prompt.at("greedy").contains("tie"), psalm);
  }
  EXPECT_NE(eval("--against " + trace("kjv-hf-bf16.h5")).output.find("a tie within that error"), std::string::npos);
}

TEST(EvalCommand, ATraceWithoutTextsNeedsNoTokenizer) {
  const Ran ran =
      eval(quoted(own_golden() / "models" / "tiny-a-Q4_K_M.gguf") + " --rope ggml --against " + trace("tiny-a-llama-q4_k_m.h5"));
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_NE(ran.output.find("24/24"), std::string::npos) << ran.output;
}

TEST(EvalCommand, WrongUseIsToldAndExitsWith2) {
  const TemporaryFolder folder;
  const auto empty = folder.path() / "empty.txt";
  std::ofstream(empty) << "";
  const auto word = folder.path() / "word.txt";
  std::ofstream(word) << "And";
  const std::string model = quoted(own_golden() / "models" / "kjv");
  const std::vector<std::pair<std::string, std::string>> wrong{
      {model + " /nonexistent.txt", "/nonexistent.txt"},
      {model + " " + quoted(empty), "empty.txt"},
      {model + " " + quoted(word), "two at least can be scored"},
      {model + " " + quoted(word) + " --against " + trace("kjv-f64.h5"), "a trace brings its own prompts"},
      {model + " --beside " + trace("kjv-f64.h5"), "--against"},
      {model + " --against /nonexistent.gguf", "/nonexistent.gguf"},
      {model + " --against " + quoted(own_golden() / "ops" / "add.h5"), "no string attribute 'kind'"},
      {model + " --against " + trace("tiny-a-llama-f16.h5"), "the model gives"},
      {model + " --against " + trace("kjv-f64.h5") + " --beside " + trace("kjv-llama-f16.h5"), "no prompt 'chat'"},
      {model + " --against " + trace("kjv-f64.h5") + " --context 100", "context"},
      {"--rope yarn", "f64, hf, ggml"},
  };
  for (const auto& [arguments, message] : wrong) {
    const Ran ran = eval(arguments);
    EXPECT_EQ(ran.status, 2) << arguments << ": " << ran.output;
    EXPECT_NE(ran.output.find(message), std::string::npos) << arguments << ": " << ran.output;
  }
}

}  // namespace
}  // namespace assay::eval_command_test
