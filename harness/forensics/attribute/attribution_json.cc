#include "harness/forensics/attribute/attribute.h"

#include <nlohmann/json.hpp>
#include "harness/reports/report.h"

namespace assay {

nlohmann::ordered_json attribution_json(const Attribution& result) {
  nlohmann::ordered_json json = environment_json();
  json["recipe"] = result.recipe;
  json["passed"] = result.passed();
  if (const auto fault = result.first_fault()) {
    json["first"] = {{"site", fault->site->site},
                     {"verdict", blame_name(fault->site->blame)},
                     {"op", fault->site->op},
                     {"prompt", fault->prompt->prompt}};
  }
  for (const PromptAttribution& prompt : result.prompts) {
    nlohmann::ordered_json sites = nlohmann::ordered_json::array();
    for (const SiteAttribution& one : prompt.sites) {
      nlohmann::ordered_json site = {{"site", one.site},
                                     {"verdict", blame_name(one.blame)},
                                     {"op", one.op},
                                     {"variant", one.variant},
                                     {"local_bounds", one.local.comparison.margin},
                                     {"bits_only", one.local.comparison.bits_only},
                                     {"total", one.total},
                                     {"inherited", one.inherited},
                                     {"own", one.own},
                                     {"amplification", one.amplification},
                                     {"inputs", one.inputs},
                                     {"remarks", one.remarks}};
      if (one.golden.verdict == SiteVerdict::not_judged) {
        site["golden_not_judged"] = one.golden.why_not;
      } else {
        site["golden_bounds"] = one.golden.excess.ratio;
        site["golden_remarks"] = one.golden.remarks;
        site["explanations"] = one.golden.explanations;
      }
      sites.push_back(std::move(site));
    }
    json["prompts"].push_back({{"prompt", prompt.prompt},
                               {"tokens", prompt.tokens},
                               {"rows", prompt.rows},
                               {"stopped", prompt.stopped},
                               {"sites", sites}});
  }
  return json;
}

}  // namespace assay
