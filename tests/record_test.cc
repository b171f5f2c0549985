// Traces that are recorded: a prompt's values are those it has alone, whatever was run before it.
#include <gtest/gtest.h>

#include "harness/forensics/trace/record.h"
#include "tests/attribute_support.h"
#include "tests/temporary.h"

namespace assay::record_test {
namespace {

const std::filesystem::path kModel = golden_model("kjv");

class Record : public testing::Test {
 protected:
  TraceFile recorded(const std::string& name, const std::vector<RecordPrompt>& prompts) {
    const std::filesystem::path out = folder_.path() / (name + ".h5");
    record_trace({&model_, engine_.get(), kModel, out, {}, {}, "[]", prompts, {}, {}});
    return TraceFile(out);
  }

  TemporaryFolder folder_;
  ModelFile model_{kModel};
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

}  // namespace
}  // namespace assay::record_test
