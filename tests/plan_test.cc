// Plans: which steps in which order, who reads what whom wrote, what is refused.
#include "engine/plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/files/file_error.h"
#include "engine/model/model_file.h"
#include "engine/plan/weight_layout.h"
#include "harness/forensics/model/wiring.h"
#include "harness/forensics/sites/site_name.h"
#include "tests/engine_support.h"
#include "tests/plan_support.h"
#include "tests/refusals.h"

namespace assay::plan_test {
namespace {

std::vector<std::string> sites_of(const Plan& plan) {
  std::vector<std::string> sites;
  for (const Step& step : plan.steps) sites.push_back(step.site);
  return sites;
}

// The definition's sites, with these behind `before` in each layer.
std::vector<std::string> expected_sites(const ModelConfig& config,
                                        const std::map<std::string, std::vector<std::string>>& quantisations) {
  std::vector<std::string> sites;
  for (const SiteWiring& wiring : all_sites_wiring(config)) {
    sites.push_back(wiring.site);
    const auto found = quantisations.find(std::string(parse_site(wiring.site).op));
    if (found == quantisations.end()) continue;
    for (const std::string& suffix : found->second) sites.push_back(wiring.site + suffix);
  }
  return sites;
}

const std::map<std::string, std::vector<std::string>> kQuantised{{"attn_norm", {".quant"}},
                                                                 {"attn", {".quant"}},
                                                                 {"ffn_norm", {".quant"}},
                                                                 {"swiglu", {".quant"}},
                                                                 {"final_norm", {".quant"}}};

TEST(PlanSteps, SitesAndTheirOrder) {
  const ModelFile folder(test_model("bf16-folder"));
  EXPECT_EQ(sites_of(make_plan(folder.config(), folder.weights(), {})), expected_sites(folder.config(), {}));
  const ModelFile gguf(test_model("q4_k_m-llama.cpp"));
  EXPECT_EQ(sites_of(make_plan(gguf.config(), gguf.weights(), {})), expected_sites(gguf.config(), kQuantised));
  for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
    EXPECT_EQ(sites_of(PaperModel(small_config(), all_of(type)).plan()), expected_sites(small_config(), {}));
  }
  for (const DType type : {DType::q4_0, DType::q5_0, DType::q8_0, DType::q4_k, DType::q5_k, DType::q6_k}) {
    EXPECT_EQ(sites_of(PaperModel(small_config(), all_of(type)).plan()), expected_sites(small_config(), kQuantised));
  }
}

// Readers of one tensor in q8_0, q4_k and f16: a step for each quantised form, named by it.
TEST(PlanSteps, TwoFormsOfOneTensorAreTwoSteps) {
  ModelConfig config = small_config();
  config.tied = false;
  const Plan plan = PaperModel(config, motley()).plan();
  EXPECT_EQ(sites_of(plan), expected_sites(config, {{"attn_norm", {".quant_q8_0", ".quant_q8_k"}},
                                                    {"attn", {".quant"}},
                                                    {"ffn_norm", {".quant_q8_0", ".quant_q8_k"}},
                                                    {"swiglu", {".quant"}},
                                                    {"final_norm", {".quant"}}}));
  const auto input_slot = [&](const char* site) {
    return plan.slots[static_cast<std::size_t>(plan.steps[plan.find(site).value()].inputs[0].slot)].name;
  };
  EXPECT_EQ(input_slot("layers.01.q_proj"), "normed.q8_0");
  EXPECT_EQ(input_slot("layers.01.k_proj"), "normed.q8_k");
  EXPECT_EQ(input_slot("layers.01.v_proj"), "normed");
  EXPECT_EQ(input_slot("layers.01.gate_proj"), "normed.q8_k");
  EXPECT_EQ(input_slot("layers.01.up_proj"), "normed.q8_0");
  EXPECT_EQ(input_slot("lm_head"), "final.q8_0");
}

// Ops by type and by rows: f32 activations with numbers, q8_0 or q8_k with blocks.
TEST(PlanSteps, OpsFollowTheWeightsType) {
  const std::map<DType, std::array<std::string, 4>> expected{
      {DType::f32, {"embed_f32", "matvec_f32", "gemm_f32", ""}},
      {DType::f16, {"embed_f16", "matvec_f16", "gemm_f16", ""}},
      {DType::bf16, {"embed_bf16", "matvec_bf16", "gemm_bf16", ""}},
      {DType::q4_0, {"decode_q4_0", "gemv_q4_0_q8_0", "gemm_q4_0_q8_0", "quantize_q8_0"}},
      {DType::q5_0, {"decode_q5_0", "gemv_q5_0_q8_0", "gemm_q5_0_q8_0", "quantize_q8_0"}},
      {DType::q8_0, {"decode_q8_0", "gemv_q8_0_x16_q8_0", "gemm_q8_0_x16_q8_0", "quantize_q8_0"}},
      {DType::q4_k, {"decode_q4_k", "gemv_q4_k_x16_q8_k", "gemm_q4_k_x16_q8_k", "quantize_q8_k"}},
      {DType::q5_k, {"decode_q5_k", "gemv_q5_k_q8_k", "gemm_q5_k_q8_k", "quantize_q8_k"}},
      {DType::q6_k, {"decode_q6_k", "gemv_q6_k_x16_q8_k", "gemm_q6_k_x16_q8_k", "quantize_q8_k"}}};
  for (const auto& [type, ops] : expected) {
    const Plan plan = PaperModel(small_config(), all_of(type)).plan();
    EXPECT_EQ(plan.steps[1].decode->name, ops[0]);
    for (const Step& step : plan.steps) {
      if (step.kind == StepKind::linear) {
        EXPECT_EQ(step.decode->name, ops[1]) << step.site;
        EXPECT_EQ(step.prefill->name, ops[2]) << step.site;
      }
      if (step.kind == StepKind::quantize) {
        EXPECT_EQ(step.decode->name, ops[3]) << step.site;
      }
    }
  }
}

// Who wrote what a step reads, by slot and column; sites without their layer, and without the quantisation on the way.
class Dataflow {
 public:
  explicit Dataflow(const Plan& plan) {
    for (const Step& step : plan.steps) {
      for (const Operand& input : step.inputs) sources_[step.site].insert(writer_of(input));
      for (const Operand& output : step.outputs) {
        for (std::int64_t i = output.column; i < output.column + output.columns(); ++i) writers_[{output.slot, i}] = step.site;
      }
    }
  }

  // With quantisations skipped.
  std::set<std::string> sources(const std::string& site) const {
    std::set<std::string> found;
    for (const std::string& source : sources_.at(site)) {
      const auto quantised = source.find(".quant");
      found.insert(source.substr(0, quantised));
      if (quantised != std::string::npos) {
        EXPECT_EQ(sources_.at(source), std::set{source.substr(0, quantised)});
      }
    }
    return found;
  }

 private:
  std::string writer_of(const Operand& input) const {
    std::set<std::string> writers;
    for (std::int64_t i = input.column; i < input.column + input.columns(); ++i) {
      const auto found = writers_.find({input.slot, i});
      writers.insert(found == writers_.end() ? "outside" : found->second);
    }
    EXPECT_EQ(writers.size(), 1U) << "columns by several writers";
    return *writers.begin();
  }

  std::map<std::pair<int, std::int64_t>, std::string> writers_;
  std::map<std::string, std::set<std::string>> sources_;
};

// Of attention's inputs the step reads the queries, and the cache the others; rope reads its table besides.
std::set<std::string> defined_sources(const SiteWiring& wiring) {
  std::set<std::string> sources;
  for (const Source& source : wiring.inputs) sources.insert(source.front().site);
  if (sources.empty()) return {"outside"};
  if (wiring.formula == Formula::rope) sources.insert("rope_table");
  if (wiring.formula == Formula::attention) return {wiring.inputs[0].front().site};
  return sources;
}

TEST(PlanSteps, EachReadsWhatTheDefinitionSaysItReads) {
  for (const NamedPlan& one : plans_of_all_kinds()) {
    SCOPED_TRACE(one.name);
    const Dataflow flow(one.plan);
    for (const SiteWiring& wiring : all_sites_wiring(one.plan.config)) {
      EXPECT_EQ(flow.sources(wiring.site), defined_sources(wiring)) << wiring.site;
    }
    for (const SiteWiring& wiring : plan_wiring(one.plan)) {
      EXPECT_EQ(wiring_differences(wiring, wiring_of_site(one.plan.config, wiring.site).value()), std::vector<std::string>());
    }
  }
}

TEST(Definition, KnowsTheSitesOfOneLayer) {
  ModelConfig config = small_config();
  config.layers = 1;
  const auto site = [&](const char* name) { return wiring_of_site(config, name); };
  EXPECT_EQ(all_sites_wiring(config).size(), 22U);
  EXPECT_EQ(definition_wiring(config).size(), 20U);
  EXPECT_EQ(source_text(site("layers.00.attn_norm")->inputs[0]), "embed");
  EXPECT_EQ(source_text(site("final_norm")->inputs[0]), "layers.00.ffn_residual");
  EXPECT_EQ(site("layers.00.attn")->kv_heads, config.kv_heads);
  EXPECT_EQ(site("layers.00.attn_norm.quant_q8_k")->formula, Formula::quantize);
  EXPECT_EQ(site("layers.00.attn.quant")->inputs, (std::vector<Source>{{{"layers.00.attn", 0, config.q_width()}}}));
  EXPECT_FALSE(site("layers.01.attn_norm"));
  EXPECT_FALSE(site("q_proj"));
  EXPECT_FALSE(site("layers.00.embed"));
}

// A step with a weight has the one of its site; the gate is the first of swiglu's inputs, K the first of kv_store's.
TEST(PlanSteps, WeightsAndOrderOfInputs) {
  ModelConfig config = small_config();
  for (const bool tied : {true, false}) {
    config.tied = tied;
    const PaperModel model(config, motley());
    const Plan plan = model.plan();
    for (const Step& step : plan.steps) {
      const bool weighs = step.kind == StepKind::embed || step.kind == StepKind::rms_norm || step.kind == StepKind::linear;
      ASSERT_EQ(step.weight >= 0, weighs) << step.site;
      if (!weighs) continue;
      const PlannedWeight& weight = plan.weights[static_cast<std::size_t>(step.weight)];
      EXPECT_EQ(weight.stored->site, step.site == "lm_head" && tied ? "embed" : step.site);
      EXPECT_EQ(weight.in_file, step.kind == StepKind::embed);
      EXPECT_EQ(weight.layout != nullptr, step.kind == StepKind::linear);
      if (step.kind != StepKind::linear) continue;
      EXPECT_EQ(weight.layout->stored, weight.stored->dtype);
      const Operand& from = step.inputs[0];
      EXPECT_EQ(from.width * dtype_numbers(plan.slots[static_cast<std::size_t>(from.slot)].dtype), weight.stored->cols);
      EXPECT_EQ(step.outputs[0].columns(), weight.stored->rows);
    }
    const auto name = [&](const Operand& one) { return plan.slots[static_cast<std::size_t>(one.slot)].name; };
    EXPECT_EQ(name(plan.steps[plan.find("layers.01.swiglu").value()].inputs[0]), "gate");
    const Step& store = plan.steps[plan.find("layers.01.kv_store").value()];
    EXPECT_EQ(store.inputs[0].column, config.q_width());
    EXPECT_EQ(store.inputs[1].column, config.q_width() + config.kv_width());
  }
}

template <class Error>
std::string refusal(const ModelConfig& config, const TypeOf& types, const PlanOptions& options) {
  const PaperModel model(config, types);
  return message_of<Error>([&] { model.plan(options); });
}

TEST(PlanRefuses, TypesThatNothingMultipliesWith) {
  for (const DType type : {DType::q4_1, DType::q5_1}) {
    if (find_weight_layout(type) != nullptr) continue;
    const TypeOf types = [type](Role role, std::int64_t layer) {
      return role == Role::up_proj && layer == 2 ? type : all_of(DType::q4_k)(role, layer);
    };
    expect_mentions(refusal<ModelFileError>(small_config(), types, {}),
                    {"paper.gguf", "blk.2.ffn_up.weight", std::string(dtype_name(type)).c_str(), "there are kernels for f32, f16",
                     "[tensor-type]"});
  }
  // A table is looked up, not multiplied with.
  ModelConfig separate = small_config();
  separate.tied = false;
  const Plan plan = PaperModel(separate, [](Role role, std::int64_t layer) {
                      return role == Role::embed ? DType::q4_1 : all_of(DType::f16)(role, layer);
                    }).plan();
  EXPECT_STREQ(plan.steps[1].decode->name, "decode_q4_1");
}

TEST(PlanRefuses, OptionsOutOfRange) {
  const TypeOf types = all_of(DType::f16);
  expect_mentions(refusal<std::invalid_argument>(small_config(), types, {.context = 5001}), {"5001", "1 .. 5000"});
  expect_mentions(refusal<std::invalid_argument>(small_config(), types, {.context = -1}), {"-1"});
  expect_mentions(refusal<std::invalid_argument>(small_config(), types, {.chunk = 0}), {"chunk of 0"});
  expect_mentions(refusal<KvError>(small_config(), types, {.kv_policy = "none such"}), {"none such", "contiguous, grow"});
  ModelConfig wide = small_config();
  wide.head_dim = 514;
  expect_mentions(refusal<std::invalid_argument>(wide, types, {}), {"head_dim of 514", "at most 512"});
  ModelConfig longest = small_config();
  longest.max_positions = std::int64_t{1} << 30;
  expect_mentions(refusal<std::invalid_argument>(longest, types, {.context = (std::int64_t{1} << 24) + 1}), {"2^24"});
}

TEST(PlanOptions, ContextAndChunkAreFilledIn) {
  ModelConfig config = small_config();
  EXPECT_EQ(PaperModel(config, all_of(DType::f16)).plan().options.context, 4096);
  config.max_positions = 300;
  const Plan plan = PaperModel(config, all_of(DType::f16)).plan();
  EXPECT_EQ(plan.options.context, 300);
  EXPECT_EQ(plan.options.chunk, 300);
  EXPECT_EQ(plan.prefill.rows, 300);
  EXPECT_EQ(plan.prefill.logit_rows, 1);
  EXPECT_EQ(plan.decode.rows, 1);
  EXPECT_EQ(PaperModel(config, all_of(DType::f16)).plan({.all_logits = true}).prefill.logit_rows, 300);
}

}  // namespace
}  // namespace assay::plan_test
