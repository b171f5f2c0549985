// What kernels declare (harness/interop/plugin/properties.h), held to what it says, and whether it was seen.
#include <fmt/format.h>

#include <cmath>

#include "harness/verdict/check.h"

namespace assay {
namespace {

bool all_finite(const Array& array) {
  const std::size_t size = dtype_size(array.dtype);
  for (std::size_t at = 0; at < array.bytes.size(); at += size) {
    for (const double value : element_values(array.dtype, &array.bytes[at])) {
      if (!std::isfinite(value)) return false;
    }
  }
  return true;
}

}  // namespace

bool takes(const Candidate& candidate, const TestCase& test) {
  return candidate.traits.takes_nan() || std::ranges::all_of(test.inputs, all_finite);
}

void CaseCheck::leave_out(const Candidate& candidate, const Checks& checks) {
  candidate.record->not_asked.push_back(test_.name);
  if (candidate.record->seen.contains(kNan)) return;
  prepare();
  call_.allow_over_read(candidate.traits.over_read());
  const Outcome outcome = call_.run(*candidate.executor, call_.placements().front());
  CaseResult unused;
  const bool right = !outcome.crashed && !check_status(outcome) && (refused() || !check_values(outcome, checks, unused));
  if (!right) candidate.record->seen.insert(kNan);
}

// Where nothing may be read past an end.
void CaseCheck::look_for_over_read(const Candidate& candidate) {
  if (candidate.traits.over_read() == 0 || candidate.record->seen.contains(kOverRead)) return;
  call_.allow_over_read(0);
  if (call_.run(*candidate.executor, call_.placements().front()).crashed) candidate.record->seen.insert(kOverRead);
}

// The parts of a call, one after the other: its bits, or, of a kernel whose bits may depend on the cut, right by themselves.
std::optional<Failure> CaseCheck::compare_cut(const Outcome& whole, const Outcome& parts, const std::string& how,
                                              const Candidate& candidate, const Checks& checks) const {
  const bool same_call = call_.signature().splits.empty();
  if (same_call || candidate.traits.batch_invariant() || parts.crashed || parts.status != whole.status)
    return compare_layout(whole, parts, how, candidate, "not batch invariant", checks);
  if (!parts.violation.empty() && checks.has(Check::guard)) return Failure{Check::guard, parts.violation};
  if (!other_bits(whole, parts).empty()) candidate.record->seen.insert(kBatchInvariant);
  CaseResult unused;
  auto failure = check_values(parts, checks, unused);
  if (failure) failure->message += ", " + how;
  return failure;
}

}  // namespace assay
