// What is wrong with a plan before anything runs.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/plan.h"

namespace assay {

struct PlanFault {
  std::string site;
  std::string what;
};

// Such that the plan cannot be run or its sites not be told apart: operands outside their slots or unfit for the cache, sites twice,
// missing, or unknown to the definition. In the plan's order, missing ones last.
std::vector<PlanFault> plan_faults(const Plan& plan);

}  // namespace assay
