#include "harness/forensics/profile/step_work.h"

#include "harness/forensics/model/wiring.h"

namespace assay::profile {
namespace {

double row_bytes(const Plan& plan, const std::vector<Operand>& operands) {
  double bytes = 0;
  for (const Operand& operand : operands) {
    const DType dtype = plan.slots[static_cast<std::size_t>(operand.slot)].dtype;
    bytes += static_cast<double>(operand.columns()) * static_cast<double>(dtype_size(dtype));
  }
  return bytes;
}

// Of keys and values, one position.
double position_bytes(const Plan& plan) {
  const KvShape& shape = plan.kv.shape;
  const auto element = static_cast<double>(dtype_size(shape.type));
  return 2 * element * static_cast<double>(shape.n_kv) * static_cast<double>(shape.head_dim);
}

}  // namespace

StepWork work_of(const Plan& plan, const Step& step, const StepClock::Work& done) {
  const StepClock::Share& share = done.of(step);
  const auto rows = static_cast<double>(share.rows);
  StepWork work;
  work.bytes = rows * (row_bytes(plan, step.inputs) + row_bytes(plan, step.outputs));
  const Formula formula = formula_of(step);
  if (formula == Formula::kv_store) work.bytes += rows * position_bytes(plan);
  if (formula == Formula::attention) {
    work.bytes += static_cast<double>(share.keys) * position_bytes(plan);
    work.operations = 4 * static_cast<double>(plan.config.q_width()) * static_cast<double>(share.pairs);
  }
  if (step.weight < 0) return work;
  const PlannedWeight& weight = plan.weights[static_cast<std::size_t>(step.weight)];
  if (formula == Formula::embed) {  // the rows that are looked up
    work.bytes += rows * static_cast<double>(weight.stored->bytes.size()) / static_cast<double>(weight.stored->rows);
    return work;
  }
  work.bytes += static_cast<double>(share.passes) * static_cast<double>(weight.bytes);
  if (formula == Formula::linear) {
    work.operations = 2 * rows * static_cast<double>(weight.stored->rows) * static_cast<double>(weight.stored->cols);
    work.of_codes = is_block(plan.slots[static_cast<std::size_t>(step.inputs.front().slot)].dtype);
  }
  return work;
}

}  // namespace assay::profile
