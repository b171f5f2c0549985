#include "harness/verdict/refusals.h"

#include <fmt/format.h>

#include <utility>

#include "harness/verdict/compare.h"
#include "reference/ops/status.h"

namespace assay {

void RefusalCheck::Base::point_to_ends() {
  pointers.clear();
  for (const GuardedMemory& memory : call.memory()) pointers.push_back(memory.end());
}

// The tensor on whose guard page the kernel ended, or what else befell it.
std::string RefusalCheck::touched(const ChangedCall& one, const Execution& execution) const {
  if (!execution.fault) return execution.failure;
  const Call& call = bases_[one.base].call;
  for (std::size_t t = 0; t < call.memory().size(); ++t) {
    if (call.memory()[t].owns(execution.fault->address)) return "touched " + call.signature().tensors[t].name;
  }
  return fmt::format("touched address {} (signal {})", execution.fault->address, execution.fault->signal);
}

std::optional<Failure> RefusalCheck::run(const Candidate& candidate, const Checks& checks, const ChangedCall& one,
                                         bool& crashed) {
  const Base& base = bases_[one.base];
  const CallPart part{base.call.params(), base.pointers, one.instead};
  const Execution execution = candidate.executor->run(base.call, {&part, 1}, {});
  const std::string what = fmt::format("; expected {} before anything is touched", status_name(one.status));
  crashed = execution.fault || !execution.failure.empty();
  if (crashed) return Failure{Check::guard, describe(one.instead) + ": " + touched(one, execution) + what};
  if (execution.status == one.status || !checks.has(Check::exact)) return std::nullopt;
  return Failure{Check::exact, fmt::format("{}: returned {}{}", describe(one.instead), status_name(execution.status), what)};
}

std::optional<Failure> RefusalCheck::take(const Candidate& candidate, const Checks& checks, bool& crashed) {
  for (const BaseCall base : {kSmallest, kSeveral}) {
    Call& call = bases_[base].call;
    const Outcome plain = call.run(*candidate.executor, call.placements().front());
    if (plain.crashed || plain.status != ASSAY_OK) continue;  // cases show that
    for (const ChangedCall& one : taken_) {
      if (one.base != base) continue;
      const std::string what = describe(one.instead);
      const Outcome outcome = call.run_instead(*candidate.executor, call.placements().front(), one.instead);
      crashed = outcome.crashed;
      if (!outcome.violation.empty() && (crashed || checks.has(Check::guard)))
        return Failure{Check::guard, what + ": " + outcome.violation};
      if (!checks.has(Check::exact)) continue;
      if (outcome.status != ASSAY_OK)
        return Failure{Check::exact, fmt::format("{}: returned {}; expected ok", what, status_name(outcome.status))};
      const std::string differs = other_bits(call.signature(), plain.outputs, outcome.outputs, true);
      if (!differs.empty()) return Failure{Check::exact, fmt::format("{}: other bits: {}", what, differs)};
    }
  }
  return std::nullopt;
}

CaseResult RefusalCheck::check(const Candidate& candidate, const Checks& checks) {
  CaseResult result;
  result.op = op_.name;
  result.variant = candidate.name;
  result.case_name = kRefusals;
  result.refusal = true;
  result.trivial = true;  // a kernel that returns zeros where it does not refuse would pass
  result.repro = fmt::format("assay check {} {} --case {}", result.op, candidate.selection, kRefusals);
  if (!checks.off_to_string().empty()) result.repro += " --checks " + checks.to_string();
  for (Base& base : bases_) {
    base.call.allow_over_read(candidate.traits.over_read());
    base.point_to_ends();
  }
  Call& call = bases_[kSmallest].call;
  const Outcome before = call.run(*candidate.executor, call.placements().front());
  for (const ChangedCall& one : calls_) {
    ++result.placements;
    result.failure = run(candidate, checks, one, result.crashed);
    if (result.failure) break;
  }
  if (!result.failure && !before.crashed && checks.has(Check::guard)) {
    const Outcome after = call.run(*candidate.executor, call.placements().front());
    if (after.status != before.status || !other_bits(call.signature(), before.outputs, after.outputs, true).empty())
      result.failure = Failure{Check::guard, "other bits after calls that it refused, of " + call.params().to_string()};
  }
  if (!result.failure) result.failure = take(candidate, checks, result.crashed);
  if (result.failure) result.verdict = Verdict::fail;
  result.compared = result.failure ? 0 : 1;
  return result;
}

}  // namespace assay
