// What no step of a plan uses any more, once steps were taken out of it.
#pragma once

#include <vector>

#include "engine/plan/plan.h"

namespace assay {

bool touches(const std::vector<Operand>& operands, int slot);

// Out of the plan, and the others numbered anew. Memory is to be placed again.
void drop_idle_slots(Plan& plan);
void drop_idle_weights(Plan& plan);

}  // namespace assay
