// What a step has to move and to compute, by its definition: the numerator of its share of the machine's roofs.
#pragma once

#include "engine/plan/plan.h"
#include "engine/run/step_clock.h"

namespace assay::profile {

struct StepWork {
  double bytes = 0;       // weights once a pass; keys and values once a pass; rows of activations read and written
  double operations = 0;  // 2 rows n k of a product, 4 head_dim n_heads pairs of attention; 0: neither
  bool of_codes = false;  // the product is of block codes with codes
};

StepWork work_of(const Plan& plan, const Step& step, const StepClock::Work& done);

}  // namespace assay::profile
