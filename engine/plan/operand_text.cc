#include "engine/plan/operand_text.h"

namespace assay {
namespace {

std::string operand_text(const Plan& plan, const Operand& operand) {
  const Slot& slot = plan.slots[static_cast<std::size_t>(operand.slot)];
  if (operand.columns() == slot.width) return slot.name;
  return slot.name + "[" + std::to_string(operand.column) + ".." + std::to_string(operand.column + operand.columns() - 1) + "]";
}

}  // namespace

std::string operands_text(const Plan& plan, const std::vector<Operand>& operands) {
  std::string all;
  for (const Operand& operand : operands) all += (all.empty() ? "" : ", ") + operand_text(plan, operand);
  return all;
}

std::string outputs_text(const Plan& plan, const Step& step) {
  return step.outputs.empty() ? "the cache" : operands_text(plan, step.outputs);
}

}  // namespace assay
