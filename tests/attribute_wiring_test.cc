// attribute on plans that are wired wrongly, and on right ones: nothing is blamed that is right.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "engine/plan/placement.h"
#include "tests/attribute_support.h"

namespace assay::attribute_wiring_test {
namespace {

struct Right {
  const char* model;
  const char* trace;
  std::vector<std::string> prompts;
};

class AttributeRight : public testing::TestWithParam<Right> {};

TEST_P(AttributeRight, BlamesNothing) {
  const ModelFile model(golden_model(GetParam().model));
  const TraceFile golden(golden_trace(GetParam().trace));
  for (const std::int64_t chunk : {512, 1}) {
    Engine engine(model, traced_options(chunk));
    const Attribution result = attribute({&model, &engine, &golden, {}, GetParam().prompts});
    EXPECT_TRUE(result.passed()) << all_text(result);
    EXPECT_EQ(result.count(Blame::guilty) + result.count(Blame::miswired), 0) << all_text(result);
  }
}

INSTANTIATE_TEST_SUITE_P(Committed, AttributeRight,
                         testing::Values(Right{"kjv", "kjv-hf-f32", {"genesis", "chat", "one_token"}},
                                         Right{"kjv", "kjv-f64", {"genesis", "psalm"}}, Right{"kjv", "kjv-hf-bf16", {"genesis"}},
                                         Right{"kjv-Q4_K_M.gguf", "kjv-llama-q4_k_m", {}},
                                         Right{"tiny-a-f16.gguf", "tiny-a-llama-f16", {}},
                                         Right{"tiny-a-Q4_K_M.gguf", "tiny-a-llama-q4_k_m", {}}),
                         [](const auto& one) {
                           std::string name = one.param.trace;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// A plan of kjv, changed, run and held to transformers' trace.
class AttributeWrongPlan : public testing::Test {
 protected:
  Step& step(Plan& plan, const char* site) { return plan.steps.at(plan.find(site).value()); }

  // `move`: slots, once they are placed.
  Attribution attributed(const std::function<void(Plan&)>& change, const char* prompt = "genesis",
                         const std::function<void(Plan&)>& move = {}) {
    EngineOptions options = traced_options();
    Plan plan = make_plan(model_.config(), model_.weights(), options.plan);
    change(plan);
    plan.decode = place_slots(plan, 1, 1);
    plan.prefill = place_slots(plan, plan.options.chunk, plan.options.chunk);
    if (move) move(plan);
    Engine engine(model_, std::move(plan), 1);
    return attribute({&model_, &engine, &golden_, {}, {prompt}});
  }

  void expect_miswired(const char* site, const std::function<void(Plan&)>& change, const char* prompt = "genesis") {
    expect_miswired(site, attributed(change, prompt));
  }
  void expect_miswired(const char* site, const Attribution& result) {
    EXPECT_FALSE(result.passed());
    EXPECT_EQ(result.count(Blame::guilty), 0) << all_text(result);
    const auto fault = result.first_fault();
    ASSERT_TRUE(fault.has_value()) << all_text(result);
    EXPECT_EQ(fault->site->blame, Blame::miswired) << all_text(result);
    EXPECT_EQ(fault->site->site, site) << all_text(result);
  }

  ModelFile model_{golden_model("kjv")};
  TraceFile golden_{golden_trace("kjv-hf-f32")};
};

TEST_F(AttributeWrongPlan, NormAppliedTwice) {
  expect_miswired("layers.03.q_norm", [](Plan& plan) {
    const auto at = plan.steps.begin() + static_cast<std::ptrdiff_t>(plan.find("layers.03.q_norm").value());
    const Step again = *at;
    plan.steps.insert(at + 1, again);
  });
}

TEST_F(AttributeWrongPlan, NormAfterRope) {
  expect_miswired("layers.01.k_rope",
                  [this](Plan& plan) { std::swap(step(plan, "layers.01.k_norm"), step(plan, "layers.01.k_rope")); });
}

TEST_F(AttributeWrongPlan, StrideOfHeadsExchanged) {
  expect_miswired("layers.02.q_rope", [this](Plan& plan) {
    Step& rope = step(plan, "layers.02.q_rope");
    for (Operand* operand : {&rope.inputs[0], &rope.outputs[0]}) {
      operand->heads *= 2;
      operand->width /= 2;
    }
    rope.inputs[1].width /= 2;
  });
}

TEST_F(AttributeWrongPlan, KeysAndValuesExchanged) {
  expect_miswired("layers.04.attn", [this](Plan& plan) {
    Step& store = step(plan, "layers.04.kv_store");
    std::swap(store.inputs[0], store.inputs[1]);
  });
}

// Of psalm the golden does not keep every row: what attention makes of its inputs cannot be judged, the plan can.
TEST_F(AttributeWrongPlan, KeysAndValuesExchangedWhereTheGoldenCannotTell) {
  const auto exchange = [this](Plan& plan) {
    Step& store = step(plan, "layers.04.kv_store");
    std::swap(store.inputs[0], store.inputs[1]);
  };
  expect_miswired("layers.04.attn", exchange, "psalm");
}

// Wired rightly, and yet up_proj writes where gate_proj's values lie: swiglu reads what nobody gave it.
TEST_F(AttributeWrongPlan, ASlotOnAnotherThatIsInUse) {
  const Attribution result = attributed([](Plan&) {}, "genesis",
                                        [](Plan& plan) {
                                          const auto offset = [&plan](const char* name) -> std::int64_t& {
                                            const auto at = std::ranges::find(plan.slots, name, &Slot::name) - plan.slots.begin();
                                            return plan.prefill.offsets.at(static_cast<std::size_t>(at));
                                          };
                                          offset("up") = offset("gate");
                                        });
  expect_miswired("layers.00.swiglu", result);
  EXPECT_NE(all_text(result).find("its input is no longer what its site gave: gate, row 0"), std::string::npos)
      << all_text(result);
}

// Kernel and reference agree that such a norm is none: no site is to blame, and nothing after it was looked at.
TEST_F(AttributeWrongPlan, ARunThatEndsEarlyDoesNotPass) {
  const Attribution result = attributed([](Plan& plan) { plan.config.rms_eps = 0; });
  EXPECT_FALSE(result.passed());
  EXPECT_FALSE(result.first_fault().has_value()) << all_text(result);
  EXPECT_EQ(result.prompts.at(0).stopped, "layers.00.attn_norm: its reference refuses its inputs");
  EXPECT_GT(result.count(Blame::not_run), 100);
}

TEST_F(AttributeWrongPlan, WeightsExchanged) {
  expect_miswired("layers.02.gate_proj", [this](Plan& plan) {
    std::swap(step(plan, "layers.02.gate_proj").weight, step(plan, "layers.02.up_proj").weight);
  });
}

TEST_F(AttributeWrongPlan, AnotherLayersWeight) {
  const Attribution result =
      attributed([this](Plan& plan) { step(plan, "layers.02.gate_proj").weight = step(plan, "layers.03.gate_proj").weight; });
  expect_miswired("layers.02.gate_proj", result);
  EXPECT_NE(
      all_text(result).find("the plan gives it the weight of layers.03.gate_proj, the definition that of layers.02.gate_proj"),
      std::string::npos)
      << all_text(result);
}

TEST_F(AttributeWrongPlan, ResidualFromTheWrongBuffer) {
  expect_miswired("layers.03.ffn_residual", [this](Plan& plan) {
    step(plan, "layers.03.ffn_residual").inputs[0] = step(plan, "layers.03.ffn_residual").outputs[0];
  });
}

}  // namespace
}  // namespace assay::attribute_wiring_test
