// A model with one fault in its file, held to another engine's trace of the right one: attribute and diff find the place.
#include <gtest/gtest.h>

#include <utility>

#include "harness/forensics/diff/diff.h"
#include "harness/forensics/trace/record.h"
#include "tests/altered_models.h"
#include "tests/attribute_support.h"
#include "tests/temporary.h"

namespace assay::altered_models_test {
namespace {

struct Altered {
  const char* fault;
  const char* model;
  const char* trace;
  Sites miswired;
  const char* explanation;  // of the first of them
  Sites may_be = {};        // sites where the fault is too, seen or not seen by the golden's rounding
};

void PrintTo(const Altered& altered, std::ostream* out) {
  *out << altered.fault << " in " << altered.model;
}

Sites in_all_layers(std::initializer_list<const char*> ops) {
  Sites sites;
  for (int layer = 0; layer < 6; ++layer) {
    for (const char* const op : ops) sites.insert("layers.0" + std::to_string(layer) + "." + op);
  }
  return sites;
}

// Our run of the golden's first prompt.
std::filesystem::path record(const ModelFile& model, Engine& engine, const std::filesystem::path& path, const TraceFile& golden,
                             const std::filesystem::path& folder) {
  std::filesystem::path out = folder / "ours.h5";
  const TracePrompt prompt = golden.prompt(golden.prompts().front());
  record_trace({&model, &engine, path, out, {}, {}, "[]", {{prompt.name, prompt.text, prompt.tokens}}, {}, {}});
  return out;
}

class AlteredModel : public testing::TestWithParam<Altered> {
 protected:
  AlteredModel()
      : path_(altered_model(golden_model(GetParam().model), folder_.path(), GetParam().fault)),
        model_(path_),
        golden_(golden_trace(GetParam().trace)) {}

  TemporaryFolder folder_;
  std::filesystem::path path_;
  ModelFile model_;
  TraceFile golden_;
};

TEST_P(AlteredModel, AttributeNamesIt) {
  const auto engine = traced_engine(model_);
  const Attribution result = attribute({&model_, engine.get(), &golden_, {}, {"genesis"}});
  Sites found = sites_that_are(Blame::miswired, result);
  for (const std::string& site : GetParam().may_be) found.erase(site);
  EXPECT_EQ(found, GetParam().miswired) << all_text(result);
  EXPECT_EQ(result.count(Blame::guilty), 0) << all_text(result);
  EXPECT_NE(all_text(result).find(GetParam().explanation), std::string::npos) << all_text(result);
}

// The sites where the error first grows more than rounding explains.
TEST_P(AlteredModel, DiffDivergesThereFirst) {
  const auto engine = traced_engine(model_);
  const auto ours = record(model_, *engine, path_, golden_, folder_.path());
  const diff::TraceDiff found = diff::compare_traces(TraceFile(ours), golden_, nullptr, {});
  const auto diverging = found.prompts[0].divergences();
  ASSERT_FALSE(diverging.empty());
  EXPECT_TRUE(GetParam().miswired.contains(found.prompts[0].errors[diverging.front()].site))
      << found.prompts[0].errors[diverging.front()].site;
}

// Their codes flip at ties with no fault at all.
TEST(RightModel, DoesNotDivergeFromAnotherEnginesCodes) {
  const TemporaryFolder folder;
  for (const auto& [name, trace] :
       {std::pair("kjv-Q4_K_M.gguf", "kjv-llama-q4_k_m"), std::pair("tiny-a-Q4_K_M.gguf", "tiny-a-llama-q4_k_m")}) {
    const ModelFile model(golden_model(name));
    const TraceFile golden(golden_trace(trace));
    const auto engine = traced_engine(model);
    const auto ours = record(model, *engine, golden_model(name), golden, folder.path());
    const diff::TraceDiff found = diff::compare_traces(TraceFile(ours), golden, nullptr, {});
    ASSERT_EQ(found.prompts.size(), golden.prompts().size());
    EXPECT_TRUE(found.diverged().empty()) << name;
  }
}

TEST(RightModel, ManyFlipsAreNoFault) {
  EXPECT_LT(diff::chance_of_flips(5e-7, 768, 14), diff::kUnlikely);
  EXPECT_GT(diff::chance_of_flips(5e-6, 768, 14), diff::kUnlikely);
  EXPECT_GT(diff::chance_of_flips(5e-7, 12288, 14), diff::kUnlikely);
  EXPECT_GT(diff::chance_of_flips(5e-7, 768, 1), diff::kUnlikely);
  EXPECT_EQ(diff::chance_of_flips(0, 768, 1), 0);
}

const Sites kExchanged{"layers.02.k_proj", "layers.02.v_proj"};
const Sites kSmallestNorm{"layers.00.attn_norm"};
const Sites kHeadNorms = in_all_layers({"q_norm", "k_norm"});

INSTANTIATE_TEST_SUITE_P(
    Fault, AlteredModel,
    testing::Values(Altered{"kv_exchanged", "kjv", "kjv-hf-f32", kExchanged, "v_proj.weight in the place of"},
                    Altered{"q_norm_zeroed", "kjv", "kjv-hf-f32", {"layers.02.q_norm"}, "number 37"},
                    Altered{"theta", "kjv", "kjv-hf-f32", in_all_layers({"q_rope", "k_rope"}), "theta"},
                    Altered{"eps", "kjv", "kjv-hf-f32", kSmallestNorm, "eps 1e-06", kHeadNorms},
                    Altered{"kv_exchanged", "kjv-Q4_K_M.gguf", "kjv-llama-q4_k_m", kExchanged, "in the place of"},
                    Altered{"q_norm_zeroed", "kjv-Q4_K_M.gguf", "kjv-llama-q4_k_m", {"layers.02.q_norm"}, "number 37"},
                    Altered{"theta", "kjv-Q4_K_M.gguf", "kjv-llama-q4_k_m", in_all_layers({"q_rope", "k_rope"}), "theta"},
                    Altered{"eps", "kjv-Q4_K_M.gguf", "kjv-llama-q4_k_m", kSmallestNorm, "eps 1e-06", kHeadNorms},
                    Altered{"q6_k_block", "kjv-Q4_K_M.gguf", "kjv-llama-q4_k_m", {"layers.02.down_proj"}, "1 of 256 rows"}));

}  // namespace
}  // namespace assay::altered_models_test
