#include "engine/plan/fuse.h"

#include <algorithm>
#include <stdexcept>

#include "engine/plan/idle.h"
#include "engine/plan/placement.h"

namespace assay {
namespace {

// The quantisation whose blocks a step reads; nothing where it reads none.
const Step* quantisation_of(const Plan& plan, std::size_t step) {
  const int slot = plan.steps[step].inputs[0].slot;
  for (std::size_t i = step; i-- > 0;) {
    const Step& earlier = plan.steps[i];
    if (touches(earlier.outputs, slot)) return earlier.kind == StepKind::quantize ? &earlier : nullptr;
  }
  return nullptr;
}

void fuse(Plan& plan, std::size_t index) {
  Step& step = plan.steps[index];
  const Step* const quantisation = step.kind == StepKind::linear ? quantisation_of(plan, index) : nullptr;
  if (quantisation == nullptr) throw std::invalid_argument(step.site + " is no projection of quantised activations");
  PlannedWeight& weight = plan.weights[static_cast<std::size_t>(step.weight)];
  step.inputs[0] = quantisation->inputs[0];
  weight.layout = find_plain_layout(weight.stored->dtype);
  if (weight.layout == nullptr)
    throw std::invalid_argument(step.site + ": no op quantises activations for " + std::string(dtype_name(weight.stored->dtype)));
  step.decode = weight.layout->gemv;
  step.prefill = weight.layout->gemm;
  weight.in_file = true;
  weight.offset = 0;
  weight.bytes = static_cast<std::int64_t>(weight.stored->bytes.size());
}

// Whether a step reads this quantisation's blocks before the next one overwrites them.
bool is_read(const Plan& plan, std::size_t index) {
  const int slot = plan.steps[index].outputs[0].slot;
  for (std::size_t i = index + 1; i < plan.steps.size(); ++i) {
    if (touches(plan.steps[i].inputs, slot)) return true;
    if (touches(plan.steps[i].outputs, slot)) return false;
  }
  return false;
}

void drop_idle_quantisations(Plan& plan) {
  for (std::size_t i = plan.steps.size(); i-- > 0;) {
    if (plan.steps[i].kind == StepKind::quantize && !is_read(plan, i))
      plan.steps.erase(plan.steps.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

void fuse_quantisation(Plan& plan, const std::vector<std::string>& sites) {
  for (const std::string& site : sites) {
    const auto step = plan.find(site);
    if (!step) throw std::invalid_argument("the plan has no site " + site);
    fuse(plan, *step);
  }
  drop_idle_quantisations(plan);
  drop_idle_slots(plan);
  place_weights(plan);
  plan.decode = place_slots(plan, plan.decode.rows, plan.decode.logit_rows);
  plan.prefill = place_slots(plan, plan.prefill.rows, plan.prefill.logit_rows);
}

}  // namespace assay
