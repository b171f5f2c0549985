// Where slots lie and where threads wait, held to a reckoning of their own: every two steps that touch the same bytes, one of them
// writing, have a barrier between them; and nothing is written over what is still to be read.
#include "engine/plan/placement.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine_support.h"
#include "tests/plan_support.h"

namespace assay::placement_test {
namespace {

// Bytes of an arena, or rows of the cache.
struct Touch {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool writes = false;
  int slot = -1;
};

constexpr std::int64_t kCache = -100;  // no arena has these bytes

// Row by row: columns of a slot are as many separate ranges as there are rows.
void add_rows(const Plan& plan, const SlotLayout& layout, const Operand& operand, bool writes, std::vector<Touch>& touches) {
  const auto index = static_cast<std::size_t>(operand.slot);
  const Slot& slot = plan.slots[index];
  const auto size = static_cast<std::int64_t>(dtype_size(slot.dtype));
  for (std::int64_t row = 0; row < (slot.of_logits ? layout.logit_rows : layout.rows); ++row) {
    const std::int64_t begin = layout.offsets[index] + (row * slot.width + operand.column) * size;
    touches.push_back({begin, begin + operand.columns() * size, writes, operand.slot});
  }
}

std::vector<Touch> touches_of(const Plan& plan, const SlotLayout& layout, const Step& step) {
  std::vector<Touch> touches;
  for (const Operand& input : step.inputs) add_rows(plan, layout, input, false, touches);
  for (const Operand& output : step.outputs) add_rows(plan, layout, output, true, touches);
  // One cache for all layers: so the policy `none` has it.
  if (step.kind == StepKind::kv_store) touches.push_back({kCache, kCache + 1, true});
  if (step.kind == StepKind::attention) touches.push_back({kCache, kCache + 1, false});
  return touches;
}

bool conflict(const std::vector<Touch>& a, const std::vector<Touch>& b) {
  return std::ranges::any_of(a, [&](const Touch& one) {
    return std::ranges::any_of(
        b, [&](const Touch& other) { return (one.writes || other.writes) && one.begin < other.end && other.begin < one.end; });
  });
}

// The first two steps that may run at the same time and must not; empty if there are none.
std::string race(const Plan& plan, const SlotLayout& layout) {
  std::vector<std::vector<Touch>> touches;
  for (const Step& step : plan.steps) touches.push_back(touches_of(plan, layout, step));
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    for (std::size_t j = i + 1; j < plan.steps.size() && layout.barriers[j] == 0; ++j) {
      if (conflict(touches[i], touches[j])) return plan.steps[i].site + " and " + plan.steps[j].site;
    }
  }
  return "";
}

// The first step that reads bytes which another slot's step has written since; empty if there is none.
std::string overwritten(const Plan& plan, const SlotLayout& layout) {
  std::vector<int> owner(static_cast<std::size_t>(layout.bytes), -1);
  const auto put = [&](int slot, std::int64_t begin, std::int64_t end) {
    std::fill(owner.begin() + begin, owner.begin() + end, slot);
  };
  for (const int slot : {plan.tokens_slot, plan.positions_slot}) {
    const std::int64_t begin = layout.offsets[static_cast<std::size_t>(slot)];
    put(slot, begin, begin + slot_bytes(plan.slots[static_cast<std::size_t>(slot)], layout));
  }
  const auto holds = [&](const Touch& touch) {
    return std::all_of(owner.begin() + touch.begin, owner.begin() + touch.end, [&](int slot) { return slot == touch.slot; });
  };
  for (const Step& step : plan.steps) {
    for (const Touch& touch : touches_of(plan, layout, step)) {
      if (touch.begin != kCache && !touch.writes && !holds(touch)) return step.site;
    }
    for (const Touch& touch : touches_of(plan, layout, step)) {
      if (touch.begin != kCache && touch.writes) put(touch.slot, touch.begin, touch.end);
    }
  }
  const std::int64_t logits = layout.offsets[static_cast<std::size_t>(plan.logits_slot)];
  const Slot& slot = plan.slots[static_cast<std::size_t>(plan.logits_slot)];
  return holds({logits, logits + slot_bytes(slot, layout), false, plan.logits_slot}) ? "" : "the end";
}

void expect_sound(const Plan& plan, const SlotLayout& layout) {
  EXPECT_EQ(race(plan, layout), "");
  EXPECT_EQ(overwritten(plan, layout), "");
  for (std::size_t i = 0; i < plan.slots.size(); ++i) {
    EXPECT_EQ(layout.offsets[i] % 64, 0) << plan.slots[i].name;
    EXPECT_LE(layout.offsets[i] + slot_bytes(plan.slots[i], layout), layout.bytes) << plan.slots[i].name;
  }
}

TEST(Placement, NoRaceAndNothingOverwritten) {
  for (const NamedPlan& one : plans_of_all_kinds()) {
    SCOPED_TRACE(one.name);
    expect_sound(one.plan, one.plan.decode);
    expect_sound(one.plan, one.plan.prefill);
  }
}

TEST(Placement, NoRaceAndNothingOverwrittenInTheCommittedModels) {
  for (const char* const name : {"bf16-folder", "q4_k_m-llama.cpp"}) {
    SCOPED_TRACE(name);
    const ModelFile model(test_model(name));
    const Plan plan = make_plan(model.config(), model.weights(), {.chunk = 16});
    expect_sound(plan, plan.decode);
    expect_sound(plan, plan.prefill);
  }
}

// The reckoning above sees every barrier that is left out; so each is needed.
TEST(Placement, NoBarrierCanBeLeftOut) {
  for (const NamedPlan& one : plans_of_all_kinds()) {
    if (one.plan.prefill.rows > 16) continue;  // more rows of the same
    for (const SlotLayout* const layout : {&one.plan.decode, &one.plan.prefill}) {
      SlotLayout fewer = *layout;
      ASSERT_GT(std::ranges::count(fewer.barriers, 1), 3 * 10);
      for (std::size_t step = 0; step < fewer.barriers.size(); ++step) {
        if (fewer.barriers[step] == 0) continue;
        fewer.barriers[step] = 0;
        EXPECT_NE(race(one.plan, fewer), "") << one.name << ": " << one.plan.steps[step].site;
        fewer.barriers[step] = 1;
      }
    }
  }
}

// Nor can a slot lie on another that is in use with it.
TEST(Placement, ASlotMovedOntoAnotherIsSeen) {
  const PaperModel model(small_config(), all_of(DType::q4_k));
  const Plan plan = model.plan({.chunk = 4});
  const auto slot = [&](const char* name) { return std::ranges::find(plan.slots, name, &Slot::name) - plan.slots.begin(); };
  for (const auto& [moved, onto] :
       {std::pair{"rope", "qkv"}, {"residual_1", "residual_0"}, {"up", "gate"}, {"normed", "residual_0"}}) {
    SlotLayout layout = plan.prefill;
    layout.offsets[static_cast<std::size_t>(slot(moved))] = layout.offsets[static_cast<std::size_t>(slot(onto))];
    EXPECT_NE(overwritten(plan, layout), "") << moved;
  }
}

// Two steps that have nothing to do with one another but the memory that they use, which Qwen3's plans never have.
Plan two_steps(std::vector<Operand> first_reads, Operand first_writes, std::vector<Operand> second_reads, Operand second_writes) {
  Plan plan;
  for (const char* const name : {"a", "b", "c", "d"}) plan.slots.push_back({name, DType::f32, 16});
  plan.steps = {{"first", StepKind::add, -1, std::move(first_reads), {first_writes}, -1, false, nullptr, nullptr},
                {"second", StepKind::add, -1, std::move(second_reads), {second_writes}, -1, false, nullptr, nullptr}};
  return plan;
}

Operand whole(int slot) {
  return {slot, 0, 0, 16};
}

TEST(Placement, WhatIsStillReadIsNotWritten) {
  const SlotLayout layout = place_slots(two_steps({whole(0), whole(1)}, whole(2), {whole(1)}, whole(0)), 4, 4);
  EXPECT_EQ(layout.barriers[1], 1);
}

TEST(Placement, ASlotThatTakesAnothersPlaceWaitsForIt) {
  const SlotLayout layout = place_slots(two_steps({whole(0)}, whole(1), {whole(0)}, whole(2)), 4, 4);
  ASSERT_EQ(layout.offsets[1], layout.offsets[2]);
  EXPECT_EQ(layout.barriers[1], 1);
}

TEST(Placement, StepsThatWriteColumnsApartDoNotWait) {
  const SlotLayout layout = place_slots(two_steps({whole(0)}, {1, 0, 0, 8}, {whole(0)}, {1, 8, 0, 8}), 4, 4);
  EXPECT_EQ(layout.barriers[1], 0);
}

// Slots that are never in use together share memory: a set is not the sum of its slots.
TEST(Placement, SlotsShareMemory) {
  for (const NamedPlan& one : plans_of_all_kinds()) {
    std::int64_t sum = 0;
    for (const Slot& slot : one.plan.slots) sum += slot_bytes(slot, one.plan.prefill);
    EXPECT_LT(one.plan.prefill.bytes, sum * 3 / 4) << one.name;
  }
}

}  // namespace
}  // namespace assay::placement_test
