// Models and traces say which model they are, and every command that takes two says first that they are of different ones.
#include <gtest/gtest.h>

#include "harness/verdict/data_dir.h"
#include "tests/program.h"
#include "tests/temporary.h"

namespace assay::other_model_test {
namespace {

std::string golden(const std::string& name) {
  return (data_dir() / "golden" / name).string();
}

struct Pair {
  std::vector<std::string> command;
  bool other;
};

// The note comes before anything else; audit says beside it how much memory it plans.
TEST(OtherModel, IsSaidFirst) {
  const TemporaryFolder folder;
  const std::string same = golden("traces/kjv-f64.h5");
  const std::string other = golden("traces/kjv-llama-q8_0.h5");
  const std::string model = golden("models/kjv");
  const auto extracted = [&](const char* name) { return (folder.path() / name).string(); };
  const std::vector<Pair> pairs{
      {{"diff", golden("traces/kjv-hf-f32.h5"), same, "--prompt", "genesis", "--brief"}, false},
      {{"diff", other, same, "--prompt", "genesis", "--brief"}, true},
      {{"diff", same, same, "--against", other, "--prompt", "genesis", "--brief"}, true},
      {{"audit", model, golden("traces/kjv-hf-f32.h5"), "--prompt", "genesis"}, false},
      {{"audit", model, other, "--prompt", "genesis"}, true},
      {{"attribute", model, "--golden", golden("traces/kjv-hf-f32.h5"), "--prompt", "genesis"}, false},
      {{"attribute", model, "--golden", other, "--prompt", "genesis"}, true},
      {{"extract", same, "layers.03.attn_norm", "--model", model, "--prompt", "genesis", "-o", extracted("same.h5")}, false},
      {{"extract", other, "layers.03.attn_norm", "--model", model, "--prompt", "genesis", "-o", extracted("other.h5")}, true},
  };
  for (const Pair& pair : pairs) {
    const Ran ran = run_assay(pair.command);
    std::string line;
    for (const std::string& word : pair.command) line += word + " ";
    EXPECT_LE(ran.status, 1) << line << ran.err;
    EXPECT_EQ(ran.err.starts_with("note: "), pair.other) << line << ran.err;
    EXPECT_EQ(ran.err.find("another model's file") != std::string::npos || ran.err.find("two models' files") != std::string::npos,
              pair.other)
        << line << ran.err;
  }
}

TEST(Inspect, SaysWhatAModelAndATraceAre) {
  const auto lines = [](const std::string& file) {
    const Ran ran = run_assay({"inspect", file});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return ran.out;
  };
  const auto digest = [](const std::string& text) {
    const auto at = text.find("model_sha256");
    return at == std::string::npos ? std::string() : text.substr(text.find_first_not_of(' ', at + 12), 64);
  };
  const std::string model = lines(golden("models/kjv"));
  const std::string trace = lines(golden("traces/kjv-f64.h5"));
  for (const char* const word : {"architecture", "qwen3", "Hugging Face", "kv_heads", "vocab"})
    EXPECT_NE(model.find(word), std::string::npos) << word;
  for (const char* const word : {"psalm", "attn_norm", "f64", "recipe", "source"})
    EXPECT_NE(trace.find(word), std::string::npos) << word;
  EXPECT_EQ(digest(model), digest(trace));
  EXPECT_EQ(digest(model).size(), 64U);
  EXPECT_NE(digest(model), digest(lines(golden("traces/kjv-llama-q8_0.h5"))));
}

}  // namespace
}  // namespace assay::other_model_test
