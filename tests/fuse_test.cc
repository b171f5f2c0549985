// A plan whose projections quantise their activations themselves gives the bits of the one whose quantisations are steps.
#include "engine/plan/fuse.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/plan/placement.h"
#include "tests/engine_support.h"
#include "tests/plan_support.h"

namespace assay::fuse_test {
namespace {

Plan plan_of(const ModelFile& model) {
  PlanOptions options;
  options.all_logits = true;
  options.context = 64;
  return make_plan(model.config(), model.weights(), options);
}

// Every projection that has a quantisation before it and whose site `chosen` takes.
std::vector<std::string> fusable(const Plan& plan, const std::function<bool(const std::string&)>& chosen) {
  std::vector<std::string> sites;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::linear && plan.slots[static_cast<std::size_t>(step.inputs[0].slot)].dtype != DType::f32 &&
        chosen(step.site))
      sites.push_back(step.site);
  }
  return sites;
}
bool every_site(const std::string&) {
  return true;
}

std::int64_t count(const Plan& plan, StepKind kind) {
  return std::ranges::count(plan.steps, kind, &Step::kind);
}

struct Fusing {
  const char* model;
  int threads;
  std::size_t chunk;  // tokens of a pass
};
class FuseBits : public testing::TestWithParam<Fusing> {};

TEST_P(FuseBits, FusedStepsGiveTheSameLogits) {
  const Fusing& with = GetParam();
  const ModelFile model(test_model(with.model));
  const std::vector<std::int32_t> tokens = prompt_tokens("genesis", 7);
  Plan fused = plan_of(model);
  const auto sites = fusable(fused, every_site);
  ASSERT_FALSE(sites.empty());
  fuse_quantisation(fused, sites);
  EXPECT_EQ(count(fused, StepKind::quantize), 0);
  Engine apart(model, plan_of(model), with.threads);
  Engine together(model, fused, with.threads);
  EXPECT_EQ(logits_of_all(together, tokens, with.chunk), logits_of_all(apart, tokens, with.chunk));
  for (Engine* const engine : {&apart, &together}) {
    engine->clear();
    engine->choose_all(Backend::reference, Isa::scalar);
  }
  EXPECT_EQ(logits_of_all(together, tokens, with.chunk), logits_of_all(apart, tokens, with.chunk)) << "by the references";
}
INSTANTIATE_TEST_SUITE_P(Models, FuseBits,
                         testing::Values(Fusing{"q4_k_m-llama.cpp", 1, 7}, Fusing{"q4_k_m-llama.cpp", 2, 1},
                                         Fusing{"motley", 2, 7}, Fusing{"odd-q8_0", 3, 4}));

TEST(Fuse, AQuantisationGoesWithItsLastReader) {
  const ModelFile model(test_model("q4_k_m-llama.cpp"));
  Plan plan = plan_of(model);
  const auto layers = static_cast<std::int64_t>(model.config().layers);
  const std::int64_t before = count(plan, StepKind::quantize);
  fuse_quantisation(plan, fusable(plan, [](const std::string& site) { return site.ends_with("down_proj"); }));
  EXPECT_EQ(count(plan, StepKind::quantize), before - layers);
  EXPECT_FALSE(plan.find("layers.00.swiglu.quant"));
  const Step& down = plan.steps[*plan.find("layers.00.down_proj")];
  EXPECT_EQ(down.inputs[0].slot, plan.steps[*plan.find("layers.00.swiglu")].outputs[0].slot);
  EXPECT_EQ(down.decode, down.prefill);

  fuse_quantisation(plan, {"layers.01.q_proj"});
  EXPECT_TRUE(plan.find("layers.01.attn_norm.quant")) << "k_proj and v_proj still read it";
  fuse_quantisation(plan, {"layers.01.k_proj", "layers.01.v_proj"});
  EXPECT_FALSE(plan.find("layers.01.attn_norm.quant"));
  EXPECT_TRUE(plan.find("layers.02.attn_norm.quant"));
}

// What a fused step reads must live until it runs, and its weight leaves the region for the file.
TEST(Fuse, MemoryIsPlacedAnew) {
  const ModelFile model(test_model("q4_k_m-llama.cpp"));
  const Plan before = plan_of(model);
  Plan plan = before;
  fuse_quantisation(plan, fusable(plan, [](const std::string& site) { return site.ends_with("down_proj"); }));
  const Step& down = plan.steps[*plan.find("layers.00.down_proj")];
  const PlannedWeight& weight = plan.weights[static_cast<std::size_t>(down.weight)];
  EXPECT_TRUE(weight.in_file);
  EXPECT_LT(plan.weight_bytes, before.weight_bytes);
  const auto lives = slot_lifetimes(plan);
  const auto at = static_cast<std::int64_t>(*plan.find("layers.00.down_proj"));
  const auto& reads = lives[static_cast<std::size_t>(down.inputs[0].slot)];
  EXPECT_TRUE(std::ranges::any_of(reads, [at](const Lifetime& life) { return life.first < at && at <= life.last; }));
  for (const auto& life : lives) EXPECT_FALSE(life.empty()) << "a slot that nothing uses";
  EXPECT_EQ(plan.slots[static_cast<std::size_t>(plan.logits_slot)].name, "logits");
  EXPECT_EQ(plan.slots[static_cast<std::size_t>(plan.tokens_slot)].name, "tokens");
}

TEST(Fuse, OtherStepsAreRefusedByName) {
  const ModelFile model(test_model("q4_k_m-llama.cpp"));
  const ModelFile halves(test_model("f16"));
  for (const auto& [file, site] : {std::pair{&model, "layers.00.attn_norm"}, std::pair{&halves, "layers.00.down_proj"}}) {
    Plan plan = plan_of(*file);
    try {
      fuse_quantisation(plan, {site});
      ADD_FAILURE() << site;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(site), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace assay::fuse_test
