#include "harness/verdict/bench/gate.h"

#include <map>
#include <memory>
#include <utility>

#include "harness/verdict/suite.h"

namespace assay::bench {
namespace {

// What a kernel that failed may be timed by: the checks that its failure is none of. None for one that does not return.
std::string timed_all_the_same(const CaseResult& one) {
  if (one.crashed) return {};
  return std::string("; to time it all the same: --checks ") +
         (one.failure->check == Check::guard ? "exact,classes,bound" : "guard");
}

// Empty if the variant passes.
std::string failure_of(const Op& op, const Variant& variant, const std::optional<RunnerOptions>& plugins, const Checks& checks) {
  CheckRequest request;
  request.ops = {op.name};
  request.isas = {variant.isa};
  if (variant.foreign) {
    request.runner = plugins;
    request.variant = variant.name;
    request.checks = checks;
  }
  try {
    const SuiteResult result = run_suite(request);
    if (result.passed()) return {};
    for (const CaseResult& one : result.cases) {
      if (variant.foreign && one.failure) return "see `" + one.repro + "`: " + one.failure->message + timed_all_the_same(one);
    }
  } catch (const std::exception& error) {
    return error.what();
  }
  return "see `assay check " + request.ops[0] + " --isa " + std::string(isa_name(variant.isa)) + "`";
}

}  // namespace

Gate parity_gate(std::optional<RunnerOptions> plugins, const Checks& checks) {
  const auto known = std::make_shared<std::map<std::string, std::string>>();
  return [known, plugins = std::move(plugins), checks](const Op& op, const Variant& variant, std::string& why) {
    const std::string key = variant_label(op.name, variant.name);
    auto entry = known->find(key);
    if (entry == known->end()) entry = known->emplace(key, failure_of(op, variant, plugins, checks)).first;
    why = entry->second;
    return why.empty();
  };
}

}  // namespace assay::bench
