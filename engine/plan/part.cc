#include "engine/plan/part.h"

#include <algorithm>
#include <stdexcept>

#include "engine/plan/idle.h"
#include "engine/plan/placement.h"

namespace assay {

PlanPart part_of(Plan plan, std::int64_t first, std::int64_t last) {
  if (first < 0 || first > last || last >= plan.config.layers) {
    throw std::invalid_argument("layers " + std::to_string(first) + "-" + std::to_string(last) + "; the model has 0 .. " +
                                std::to_string(plan.config.layers - 1));
  }
  const auto inside = [&](const Step& step) { return step.layer >= first && step.layer <= last; };
  const auto begin = std::ranges::find_if(plan.steps, inside);
  const auto end = std::find_if_not(begin, plan.steps.end(), inside);
  // The residual stream: what a layer's first step reads, and its last one writes.
  const int stream = begin->inputs[0].slot;
  const auto writes_stream = [stream](const Step& step) { return touches(step.outputs, stream); };
  PlanPart part{{}, "", (end - 1)->site};
  for (auto before = plan.steps.begin(); before != begin; ++before) {
    if (writes_stream(*before)) part.input_site = before->site;
  }
  const auto read_inside = [&](const Step& step) {
    return !writes_stream(step) && std::any_of(begin, end, [&](const Step& reader) {
      return std::ranges::any_of(step.outputs, [&](const Operand& output) { return touches(reader.inputs, output.slot); });
    });
  };
  std::vector<Step> steps;
  std::ranges::copy_if(plan.steps, std::back_inserter(steps),
                       [&](const Step& step) { return inside(step) || (step.layer < 0 && read_inside(step)); });
  plan.steps = std::move(steps);
  plan.tokens_slot = stream;
  plan.logits_slot = plan.steps.back().outputs[0].slot;
  drop_idle_slots(plan);
  drop_idle_weights(plan);
  place_weights(plan);
  plan.decode = place_slots(plan, plan.decode.rows, plan.decode.logit_rows);
  plan.prefill = place_slots(plan, plan.prefill.rows, plan.prefill.logit_rows);
  part.plan = std::move(plan);
  return part;
}

}  // namespace assay
