// Some of a model's layers as a plan of their own.
#pragma once

#include <cstdint>
#include <string>

#include "engine/plan/plan.h"

namespace assay {

struct PlanPart {
  Plan plan;                // tokens_slot is the slot of the rows that go in, logits_slot that of the rows that come out
  std::string input_site;   // whose values the rows that go in are: "embed", "layers.01.ffn_residual"
  std::string output_site;  // "layers.03.ffn_residual"
};

// Layers first .. last, with the steps of no layer that they read from, such as rope_table; neither embedding nor head. Sites and layers
// keep their names and numbers, memory is placed anew. The plan must have whole_last_layer. Throws std::invalid_argument for layers
// that the model has not.
PlanPart part_of(Plan plan, std::int64_t first, std::int64_t last);

}  // namespace assay
