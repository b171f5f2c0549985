// `assay run` and `assay plan` as a user meets them.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "engine/convert/known_shapes.h"
#include "engine/convert/synth.h"
#include "engine/files/gguf_writer.h"
#include "engine/model/model_file.h"
#include "engine/tokenizer/tokenizer.h"
#include "engine/tokenizer/utf8.h"
#include "golden/trace.h"
#include "harness/verdict/discipline/sanitized.h"
#include "tests/engine_support.h"
#include "tests/program.h"

namespace assay::run_test {
namespace {

using Words = std::vector<std::string>;

Ran run(Words words) {
  words.insert(words.begin(), "run");
  return run_assay(words);
}

nlohmann::json run_json(Words words) {
  words.emplace_back("--json");
  const Ran ran = run(words);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return nlohmann::json::parse(ran.out, nullptr, false);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void expect_refused(const Words& words, std::initializer_list<const char*> parts) {
  const Ran ran = run(words);
  EXPECT_EQ(ran.status, 2) << words.back();
  EXPECT_EQ(ran.out, "") << words.back();
  for (const char* const part : parts) EXPECT_TRUE(contains(ran.err, part)) << part << " is not in " << ran.err;
}

// The prompt of `chat` holds special tokens, which a prompt's text does not bring in; the others are texts.
TEST(Run, GreedyTextIsHuggingFaces) {
  const TraceFile trace(committed_models().parent_path() / "traces" / "kjv-hf-f32.h5");
  int compared = 0;
  for (const std::string& name : trace.prompts()) {
    const TracePrompt prompt = trace.prompt(name);
    if (!prompt.greedy || prompt.text.empty()) continue;
    ++compared;
    const std::string count = std::to_string(prompt.greedy->tokens.size());
    const nlohmann::json json = run_json({"-p", prompt.text, "-n", count, "--ignore-eos"});
    EXPECT_EQ(json.at("tokens").get<std::vector<std::int32_t>>(), prompt.greedy->tokens) << name;
    EXPECT_EQ(json.at("prompt_tokens"), prompt.tokens.size()) << name;
    EXPECT_EQ(json.at("decoded"), prompt.greedy->tokens.size() - 1);
    EXPECT_EQ(json.at("ended"), "number of tokens");
    const Ran plain = run({"-p", prompt.text, "-n", count, "--ignore-eos", "--threads", "1"});
    EXPECT_EQ(plain.status, 0);
    EXPECT_EQ(plain.out, json.at("text").get<std::string>() + "\n");
    for (const char* const figure : {"load ", "prefill ", "decode ", "tokens/s", "ended by: number of tokens"}) {
      EXPECT_TRUE(contains(plain.err, figure)) << plain.err;
    }
  }
  EXPECT_EQ(compared, 3);
}

// The embedded model with another token for the end of a text.
std::filesystem::path with_eos(const TemporaryFolder& folder, std::uint32_t eos) {
  const GgufFile source(committed_models() / "kjv-Q4_K_M.gguf");
  std::filesystem::path out = folder.path() / "eos.gguf";
  GgufWriter writer(out);
  for (const GgufValue& value : source.contents().metadata) {
    if (value.key == "tokenizer.ggml.eos_token_id") {
      writer.add(value.key, eos);
    } else {
      writer.add_value(value);
    }
  }
  for (const StoredTensor& tensor : source.contents().tensors) writer.declare(tensor.name, tensor.dtype, tensor.shape);
  writer.begin();
  for (const StoredTensor& tensor : source.contents().tensors) writer.write(tensor.bytes);
  writer.finish();
  return out;
}

TEST(Run, ATextEndsAtTheTokenThatItsFileNames) {
  const TemporaryFolder folder;
  const std::string original = committed_models() / "kjv-Q4_K_M.gguf";
  const nlohmann::json whole = run_json({original, "-p", "In the beginning", "-n", "40"});
  const auto tokens = whole.at("tokens").get<std::vector<std::uint32_t>>();
  ASSERT_EQ(tokens.size(), 40U);
  const std::size_t first = static_cast<std::size_t>(std::ranges::find(tokens, tokens[17]) - tokens.begin());
  const std::string file = with_eos(folder, tokens[17]);
  const nlohmann::json ended = run_json({file, "-p", "In the beginning", "-n", "40"});
  EXPECT_EQ(ended.at("ended"), "stop token");
  EXPECT_EQ(ended.at("tokens").get<std::vector<std::uint32_t>>(),
            std::vector<std::uint32_t>(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(first)));
  const nlohmann::json further = run_json({file, "-p", "In the beginning", "-n", "40", "--ignore-eos"});
  EXPECT_EQ(further.at("tokens"), whole.at("tokens"));
}

// In a chat <|endoftext|> ends an answer too, whatever the file's own end is.
TEST(Run, AChatsAnswerEndsAtEndoftext) {
  const Words words{"--chat", "-p", "The grace of our Lord Jesus Christ be with you all. Amen.", "-n", "200"};
  Words further(words);
  further.emplace_back("--ignore-eos");
  const auto tokens = run_json(further).at("tokens").get<std::vector<std::int32_t>>();
  const Tokenizer tokenizer(ModelFile(committed_models() / "kjv").vocabulary());
  const auto end = std::ranges::find(tokens, tokenizer.id_of("<|endoftext|>"));
  ASSERT_NE(end, tokens.end());
  const nlohmann::json ended = run_json(words);
  EXPECT_EQ(ended.at("ended"), "stop token");
  EXPECT_EQ(ended.at("tokens").get<std::vector<std::int32_t>>(), std::vector<std::int32_t>(tokens.begin(), end));
}

TEST(Run, Refusals) {
  expect_refused({"-p", "x", "--chat", "--thinking", "on"}, {"<think>"});
  expect_refused({"-p", "x", "--chat", "--thinking", "off"}, {"<think>"});
  expect_refused({"-p", "x", "--thinking", "off"}, {"--chat"});
  expect_refused({"-p", "x", "--system", "hear"}, {"--chat"});
  expect_refused({"-p", ""}, {"--prompt", "expected a value that is not empty"});
  expect_refused({"/nonexistent", "-p", "x"}, {"/nonexistent", "[unreadable]"});
  expect_refused({"-p", "x", "--kernel", "scalar"}, {"--kernel", "SITE_GLOB=ISA"});
  expect_refused({"-p", "x", "--kernel", "layers.00.q_porj=scalar"}, {"layers.00.q_porj", "the nearest is 'layers.00.q_proj'"});
  expect_refused({"-p", "x", "--kernel", "*=sse2"}, {"sse2", "reference, scalar"});
  expect_refused({"-p", "x", "--stop-at", "layers.05.q_porj"}, {"layers.05.q_porj", "the nearest is 'layers.05.q_proj'"});
  expect_refused({"-p", "x", "--context", "4097"}, {"4097", "1 .. 4096"});
  expect_refused({"-p", "In the beginning", "--context", "2"}, {"3 tokens", "room for 2"});
  expect_refused({"-p", "x", "--kv", "pagde"}, {"pagde"});
  for (const char* const threads : {"0", "-1", "1025", "100000", "2.5", ""})
    expect_refused({"-p", "x", "--threads", threads}, {"--threads"});
  expect_refused({"-p", "x", "-n", "-1"}, {"--tokens"});
  expect_refused({"-p", "x", "--temp", "-1"}, {"--temp"});
  expect_refused({"-p", "x", "--top-p", "1.5"}, {"top-p"});
  expect_refused({"-p", "x", "--min-p", "-1"}, {"min-p"});
}

TEST(Run, MoreThreadsThanCores) {
  const std::string many = std::to_string(std::thread::hardware_concurrency() + 1);
  const Ran plain = run({"-p", "In the beginning", "-n", "4", "--threads", "1"});
  const Ran ran = run({"-p", "In the beginning", "-n", "4", "--threads", many});
  EXPECT_EQ(ran.out, plain.out);
  EXPECT_NE(ran.err.find("--threads " + many), std::string::npos) << ran.err;
  EXPECT_EQ(plain.err.find("warning"), std::string::npos) << plain.err;
}

// 1024 stacks of 8 MiB are more than the address space that is left.
TEST(Run, ThreadsThatHaveNoRoomAreTold) {
#if ASSAY_SANITIZED
  GTEST_SKIP() << "a sanitizer's shadow takes all addresses";
#endif
  const Ran none = run_assay({"run", "-p", "x", "-n", "1", "--threads", "1024"}, {}, {{"prlimit", "--as=4000000000"}, {}});
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.err.find("of 1024 cannot be started"), std::string::npos) << none.err;
}

TEST(Run, ZeroTokensAndTheContextsEnd) {
  const Ran none = run({"-p", "In the beginning", "-n", "0"});
  EXPECT_EQ(none.status, 0);
  EXPECT_EQ(none.out, "\n");
  const nlohmann::json full = run_json({"-p", "In the beginning", "-n", "100", "--context", "10"});
  EXPECT_EQ(full.at("ended"), "end of the context");
  EXPECT_EQ(full.at("tokens").size(), 8U);  // 3 + 8 - 1 were fed
  const nlohmann::json exact = run_json({"-p", "In the beginning", "-n", "1", "--context", "3"});
  EXPECT_EQ(exact.at("ended"), "number of tokens");
}

TEST(Run, TheSameSeedTheSameText) {
  const Words words{"-p", "And he said", "-n", "30", "--temp", "1", "--top-k", "50", "--top-p", "0.95", "--min-p", "0.02"};
  const auto text = [&](const char* seed, const char* threads) {
    Words all(words);
    for (const char* const word : {"--seed", seed, "--threads", threads}) all.emplace_back(word);
    return run_json(all).at("text").get<std::string>();
  };
  EXPECT_EQ(text("3", "1"), text("3", "2"));
  EXPECT_NE(text("3", "1"), text("4", "1"));
}

// The same site by every ISA and split, in the program itself.
TEST(Run, StopAtPrintsASiteAndItsDigest) {
  const Ran ran = run({"-p", "In the beginning", "--stop-at", "layers.02.attn"});
  EXPECT_EQ(ran.status, 0);
  for (const char* const part : {"layers.02.attn", "f32 [3, 512]", "RMS ", "sha256 "})
    EXPECT_TRUE(contains(ran.out, part)) << ran.out;
  std::set<std::string> digests;
  for (const Isa isa : isas_here()) {
    for (const char* const chunk : {"1", "2", "512"}) {
      const Ran one = run_assay({"run", "-p", "In the beginning", "--stop-at", "lm_head", "--json", "--chunk", chunk},
                                {"ASSAY_ISA=" + std::string(isa_name(isa))});
      ASSERT_EQ(one.status, 0) << one.err;
      digests.insert(nlohmann::json::parse(one.out).at("sha256").get<std::string>());
    }
  }
  EXPECT_EQ(digests.size(), 1U);
  const nlohmann::json quantised = nlohmann::json::parse(
      run({committed_models() / "kjv-Q4_K_M.gguf", "-p", "x", "--stop-at", "layers.02.attn.quant", "--json"}).out);
  EXPECT_EQ(quantised.at("dtype"), "q8_k");
  EXPECT_EQ(quantised.at("shape"), (nlohmann::json{1, 2}));
}

TEST(Run, KernelsAreChosenBySite) {
  const auto digest = [](const char* choice) {
    Words words{"-p", "In the beginning", "--stop-at", "lm_head"};
    if (choice != nullptr) words.insert(words.end(), {"--kernel", choice});
    return run_json(words).at("sha256").get<std::string>();
  };
  const std::string plain = digest(nullptr);
  EXPECT_EQ(digest("*=scalar"), plain);
  EXPECT_EQ(digest("layers.0?.kv_store=reference"), plain);
  EXPECT_NE(digest("*_proj=reference"), plain);
}

// Ctrl-C: the text so far, its figures, 130. The scalar kernels have seconds to go when it comes.
TEST(Run, InterruptedItSaysHowFarItCame) {
  Program program({"run", "-p", "In the beginning", "-n", "4000", "--ignore-eos", "--kernel", "*=scalar", "--threads", "1"});
  program.await_output();
  program.send(SIGINT);
  const Ran ran = program.wait();
  EXPECT_EQ(ran.status, 130);
  EXPECT_TRUE(ran.out.ends_with("\n"));
  EXPECT_GT(ran.out.size(), 1U);
  EXPECT_TRUE(is_valid_utf8(ran.out));
  EXPECT_TRUE(contains(ran.err, "ended by: cancelled")) << ran.err;
  EXPECT_TRUE(contains(ran.err, "decode ")) << ran.err;
}

TEST(Run, InterruptedInJsonItIsWholeJson) {
  Program program({"run", "-p", "In the beginning", "-n", "4000", "--ignore-eos", "--kernel", "*=scalar", "--json"});
  program.await_handler(SIGINT);  // nothing is printed before the end
  program.send(SIGINT);
  const Ran ran = program.wait();
  EXPECT_EQ(ran.status, 130);
  const nlohmann::json json = nlohmann::json::parse(ran.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << ran.out;
  EXPECT_EQ(json.at("ended"), "cancelled");
}

// A vocabulary of bytes in which most texts are no UTF-8: drawn at random, they are whole characters all the same.
TEST(Run, WhatIsPrintedIsUtf8) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "random.gguf";
  ModelConfig config = known_shape("qwen3-0.6b");
  config.layers = 1;
  config.vocab = 1024;
  synthesize({config, &find_target("q8_0"), file, 1, 2, {}});
  for (const char* const seed : {"1", "2", "3"}) {
    const Ran ran = run({file, "-p", "a", "-n", "60", "--temp", "100", "--seed", seed});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(is_valid_utf8(ran.out)) << ran.out;
    EXPECT_TRUE(contains(ran.out, "\ufffd")) << "no byte stood alone: the test shows nothing";
  }
}

nlohmann::json plan_json(Words words) {
  words.insert(words.begin(), "plan");
  words.emplace_back("--json");
  const Ran ran = run_assay(words);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return nlohmann::json::parse(ran.out, nullptr, false);
}

TEST(PlanCommand, TellsStepsAndMemory) {
  const nlohmann::json json = plan_json({"--context", "100", "--kv", "chunks", "--kv-type", "f16"});
  EXPECT_EQ(json.at("model").at("layers"), 6);
  EXPECT_EQ(json.at("context"), 100);
  EXPECT_EQ(json.at("steps").size(), 2U + 6 * 18 + 2);
  std::int64_t sum = 0;
  std::vector<std::string> regions;
  for (const auto& region : json.at("regions")) {
    sum += region.at("bytes").get<std::int64_t>();
    regions.push_back(region.at("name"));
    for (const auto& buffer : region.at("buffers")) {
      for (const char* const key : {"name", "type", "shape", "offset", "bytes", "first", "last"})
        EXPECT_TRUE(buffer.contains(key));
    }
  }
  EXPECT_EQ(regions, (std::vector<std::string>{"weights", "kv", "decode", "prefill", "file"}));
  EXPECT_EQ(json.at("planned_bytes"), sum);
  EXPECT_EQ(json.at("regions")[1].at("bytes"), 6 * 2 * 2 * 128 * 2 * 256);  // a chunk of 256 positions
  EXPECT_TRUE(json.at("fits").get<bool>());
  // One that grows by copying is there twice meanwhile: 256 positions beside 300.
  const auto bytes = [](const char* policy) {
    return plan_json({"--context", "300", "--kv", policy}).at("planned_bytes").get<std::int64_t>();
  };
  EXPECT_EQ(bytes("grow") - bytes("contiguous"), 6 * 2 * 2 * 128 * 4 * 256);
  const Ran text = run_assay({"plan", "--all"});
  EXPECT_EQ(text.status, 0);
  for (const char* const part : {"layers.05.ffn_residual", "rope_table", "prefill", "fits: "})
    EXPECT_TRUE(contains(text.out, part));
  const Ran told = run_assay({"plan"});
  EXPECT_FALSE(contains(told.out, "layers.04.attn")) << "layers that are alike are told once";
  for (const char* const part : {"layers 00 .. 04", "layers 05", "last_attn"}) EXPECT_TRUE(contains(told.out, part)) << part;
}

// A cache of more than this machine has.
TEST(PlanCommand, SaysWhatDoesNotFit) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "long.gguf";
  ModelConfig config = known_shape("qwen3-0.6b");
  config.vocab = 1024;
  config.max_positions = 16'000'000;
  config.layers = 2;
  synthesize({config, &find_target("q4_0"), file, 1, 2, {}});
  const nlohmann::json json = plan_json({file, "--context", "16000000"});
  EXPECT_FALSE(json.at("fits").get<bool>());
  const Ran text = run_assay({"plan", file, "--context", "16000000"});
  EXPECT_EQ(text.status, 0);
  EXPECT_TRUE(contains(text.out, "does not fit: ")) << text.out;
}

// The header alone: the weights of a large file never become resident.
TEST(PlanCommand, ReadsTheHeaderAlone) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "large.gguf";
  ModelConfig config = known_shape("qwen3-0.6b");
  config.vocab = 1024;
  config.layers = 8;
  synthesize({config, &find_target("q8_0"), file, 1, 2, {}});
  ASSERT_GT(std::filesystem::file_size(file), 100'000'000U);
  const Ran small = run_assay({"plan"});
  const Ran large = run_assay({"plan", file});
  ASSERT_EQ(large.status, 0) << large.err;
  EXPECT_LT(large.peak_bytes, small.peak_bytes + 8'000'000);
}

}  // namespace
}  // namespace assay::run_test
