#include "harness/forensics/attribute/plan_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/forensics/model/wiring.h"

namespace assay {
namespace {

// Rows for the cache are [kv_heads, head_dim].
void check_stores(const Plan& plan, std::vector<PlanFault>& faults) {
  for (const Step& step : plan.steps) {
    if (formula_of(step) != Formula::kv_store) continue;
    for (const Operand& operand : step.inputs) {
      if (operand.heads == plan.config.kv_heads && operand.width == plan.config.head_dim) continue;
      faults.push_back({step.site, fmt::format("the plan stores {} heads of {}, the cache has {} of {}", operand.heads,
                                               operand.width, plan.config.kv_heads, plan.config.head_dim)});
    }
  }
}

}  // namespace

std::vector<PlanFault> plan_faults(const Plan& plan) {
  std::vector<PlanFault> faults;
  const std::vector<SiteWiring> definition = definition_wiring(plan.config);
  std::map<std::string, int> times;
  for (const SiteWiring& wiring : plan_wiring(plan)) {
    if (!wiring.fault.empty()) faults.push_back({wiring.site, "the plan has it at " + wiring.fault});
    if (++times[wiring.site] == 2)
      faults.push_back({wiring.site, "the plan has this site twice: it is applied to its own output"});
    if (std::ranges::find(definition, wiring.site, &SiteWiring::site) == definition.end())
      faults.push_back({wiring.site, "the definition has no such site"});
  }
  check_stores(plan, faults);
  for (const SiteWiring& wiring : definition) {
    if (!times.contains(wiring.site)) faults.push_back({wiring.site, "the plan has no such site"});
  }
  return faults;
}

}  // namespace assay
