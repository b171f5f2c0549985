#include "engine/plan/idle.h"

#include <algorithm>

namespace assay {
namespace {

// Out of `all`; numbers above it fall by one, wherever `each_number` finds one.
template <class T, class EachNumber>
void drop(std::vector<T>& all, int index, const EachNumber& each_number) {
  all.erase(all.begin() + index);
  each_number([index](int& one) {
    if (one > index) --one;
  });
}

}  // namespace

bool touches(const std::vector<Operand>& operands, int slot) {
  return std::ranges::any_of(operands, [slot](const Operand& one) { return one.slot == slot; });
}

void drop_idle_slots(Plan& plan) {
  const auto each_number = [&plan](const auto& renumber) {
    for (Step& step : plan.steps) {
      for (Operand& operand : step.inputs) renumber(operand.slot);
      for (Operand& operand : step.outputs) renumber(operand.slot);
    }
    for (int* const one : {&plan.tokens_slot, &plan.positions_slot, &plan.logits_slot}) renumber(*one);
  };
  for (int slot = static_cast<int>(plan.slots.size()) - 1; slot >= 0; --slot) {
    const bool used = std::ranges::any_of(
        plan.steps, [slot](const Step& step) { return touches(step.inputs, slot) || touches(step.outputs, slot); });
    if (!used) drop(plan.slots, slot, each_number);
  }
}

void drop_idle_weights(Plan& plan) {
  const auto each_number = [&plan](const auto& renumber) {
    for (Step& step : plan.steps) renumber(step.weight);
  };
  for (int weight = static_cast<int>(plan.weights.size()) - 1; weight >= 0; --weight) {
    if (std::ranges::find(plan.steps, weight, &Step::weight) == plan.steps.end()) drop(plan.weights, weight, each_number);
  }
}

}  // namespace assay
