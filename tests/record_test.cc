// Traces that are recorded: a prompt's values are those it has alone, whatever was run before it.
#include <gtest/gtest.h>

#include "harness/forensics/diff/diff.h"
#include "harness/forensics/trace/record.h"
#include "tests/attribute_support.h"
#include "tests/temporary.h"

namespace assay::record_test {
namespace {

class Record : public testing::Test {
 protected:
  TraceFile recorded(const std::string& name, const std::vector<RecordPrompt>& prompts, const KeptTokens& kept = {}) {
    const std::filesystem::path out = folder_.path() / (name + ".h5");
    record_trace({&model_, engine_.get(), path_, out, {}, kept, "[]", prompts, {}, {}});
    return TraceFile(out);
  }

  TemporaryFolder folder_;
  const std::filesystem::path path_ = golden_model("kjv");
  ModelFile model_{path_};
  std::unique_ptr<Engine> engine_ = traced_engine(model_);
};

TEST_F(Record, APromptIsAsItIsAlone) {
  const RecordPrompt first{"first", "", {5, 17, 40, 3, 77}};
  const RecordPrompt second{"second", "", {9, 60, 2}};
  const TraceFile both = recorded("both", {first, second});
  const TraceFile alone = recorded("alone", {second});
  for (const char* const site : {"layers.00.attn", "layers.05.ffn_residual", "lm_head"})
    EXPECT_EQ(both.site(both.prompt("second"), site).bytes, alone.site(alone.prompt("second"), site).bytes) << site;
}

// Rows of the same tokens are compared, wherever a trace has them.
TEST_F(Record, OneOfFewerTokensIsComparedByThem) {
  const RecordPrompt prompt{"one", "", {5, 17, 40, 3, 77, 12}};
  const TraceFile all = recorded("all", {prompt});
  const TraceFile last = recorded("last", {prompt}, parse_kept_tokens("3.."));
  const diff::TraceDiff result = diff::compare_traces(all, all, &last, {});
  const auto& against = result.prompts.at(0).logits_against;
  ASSERT_TRUE(against);
  EXPECT_EQ(against->rows, 3);
  EXPECT_EQ(against->largest_kl, 0);
  EXPECT_TRUE(against->flips.empty());
}

}  // namespace
}  // namespace assay::record_test
