// Of a long call truth is known of a sample alone (reference/ops/split.h). The rest of it: held to our bits where they are the only right
// ones, else to truth where it is farthest from them.
#include <cmath>
#include <limits>

#include "harness/verdict/check.h"
#include "harness/verdict/element_text.h"
#include "reference/ops/split.h"

namespace assay {
namespace {

// How far two numbers lie apart, and as a share of the greater; infinite where one is finite and the other not.
struct Distance {
  double absolute = 0;
  double relative = 0;
};

Distance distance_between(double a, double b) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (std::isfinite(a) != std::isfinite(b)) return {kInfinite, kInfinite};
  if (!std::isfinite(a) || a == b) return {};
  return {std::fabs(a - b), std::fabs(a - b) / std::max(std::fabs(a), std::fabs(b))};
}

// The elements of which no truth is known that lie farthest from ours, by either measure.
std::vector<std::int64_t> farthest_unknown(const reference::Expected& expected, const Array& y, const Array& ours) {
  const std::size_t size = dtype_size(y.dtype);
  Distance most;
  std::int64_t absolute = -1;
  std::int64_t relative = -1;
  for (std::size_t i = 0; i < expected.bits_only.size(); ++i) {
    if (expected.bits_only[i] == 0) continue;
    const Distance now =
        distance_between(element_as_double(y.dtype, &y.bytes[i * size]), element_as_double(y.dtype, &ours.bytes[i * size]));
    if (now.absolute > most.absolute) most.absolute = now.absolute, absolute = static_cast<std::int64_t>(i);
    if (now.relative > most.relative) most.relative = now.relative, relative = static_cast<std::int64_t>(i);
  }
  std::vector<std::int64_t> farthest;
  if (absolute >= 0) farthest.push_back(absolute);
  if (relative >= 0 && relative != absolute) farthest.push_back(relative);
  return farthest;
}

// The one element, as a tensor of its own.
Array element_of(const Array& y, std::int64_t element) {
  const std::size_t size = dtype_size(y.dtype);
  const auto from = y.bytes.begin() + element * static_cast<std::ptrdiff_t>(size);
  return {.dtype = y.dtype, .shape = {1}, .bytes = {from, from + static_cast<std::ptrdiff_t>(size)}};
}

}  // namespace

std::optional<Failure> CaseCheck::check_unsampled(const Candidate& candidate, const Outcome& outcome, const Checks& checks) {
  if (!is_sampled(op_, test_) || is_known(candidate)) return std::nullopt;
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const TensorSpec& spec = call_.signature().tensors[outputs_[o]];
    const Array& y = outcome.outputs[o];
    const Array& ours = baseline_->scalar.outputs[o];
    if (exact() && checks.has(Check::exact)) {
      const Comparison found = compare_bytes(spec, y, whole(spec, ours.bytes), any_nan());
      if (found.worst) return Failure{Check::exact, describe_miss(spec, *found.worst)};
    }
    if (!bounded()) continue;
    for (const std::int64_t element : farthest_unknown(expected(candidate.arithmetic)[o], y, ours)) {
      call_.place(call_.placements().front());
      const reference::Expected truth = truth_at(op_, test_.params, call_.pointers(), o, element, candidate.arithmetic);
      TensorSpec alone = spec;
      alone.shape = {1};
      const Comparison found = compare_expected(*op_.contract, alone, element_of(y, element), truth);
      const bool wrong_class = found.wrong_class && checks.has(Check::classes);
      if (!wrong_class && !(found.margin > 1 && checks.has(Check::bound))) continue;
      Miss miss = wrong_class ? *found.wrong_class : *found.worst;
      miss.index = element;
      return Failure{wrong_class ? Check::classes : Check::bound, describe_miss(spec, miss)};
    }
  }
  return std::nullopt;
}

}  // namespace assay
