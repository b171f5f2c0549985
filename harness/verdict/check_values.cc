// What a call wrote, held to truth: classes, bound, bias and spread; and to our bits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/verdict/check.h"

namespace assay {
namespace {

constexpr double kMostBias = 6;     // |z| of independent symmetric signs passes it with a chance below 3e-8
constexpr double kMostSpread = 32;  // other orders of summation reach 6.8, truncation 11 to 47
// Outputs that have a bound: of one an order of summation passes 32 by chance in one case of seven, of sixteen in one of 10^7.
constexpr std::int64_t kLeastSpread = 16;

}  // namespace

std::string no_number(double nmse) {
  return fmt::format(
      "errors are {:.2f} times the outputs (RMS), inside a bound that would let zeros pass; at most {} where what is "
      "declared grants so much",
      std::sqrt(nmse), std::sqrt(kMostNmse));
}

std::optional<Failure> CaseCheck::check_values(const Candidate& candidate, const Outcome& outcome, const Checks& checks,
                                               CaseResult& result) const {
  const reference::Arithmetic& how = candidate.arithmetic;
  std::vector<Comparison> outputs;
  std::vector<double> units;
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    outputs.push_back(compare_output(o, outcome.outputs[o], how));
    const Comparison& found = outputs.back();
    result.compared += found.compared;
    result.bits_only += found.bits_only;
    result.nmse = std::max(result.nmse, found.tolerances.nmse());
    result.all_close = result.all_close && found.tolerances.close();
    const TensorSpec& spec = call_.signature().tensors[outputs_[o]];
    if (!found.note.empty()) result.worst = found.note;
    if (found.worst && found.margin >= result.margin) result.worst = describe_miss(spec, *found.worst);
    result.margin = std::max(result.margin, found.margin);
    units.insert(units.end(), found.bias.begin(), found.bias.end());
  }
  result.price = price_of(outcome, candidate);
  if (bounded()) result.z = bias_z(units);
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const TensorSpec& spec = call_.signature().tensors[outputs_[o]];
    if (exact() && checks.has(Check::exact) && outputs[o].worst)
      return Failure{Check::exact, describe_miss(spec, *outputs[o].worst)};
    if (bounded() && checks.has(Check::classes) && outputs[o].wrong_class) {
      return Failure{Check::classes, describe_miss(spec, *outputs[o].wrong_class)};
    }
  }
  if (exact()) return std::nullopt;
  if (checks.has(Check::bound) && result.margin > 1) return Failure{Check::bound, result.worst};
  if (!bounded()) return std::nullopt;
  if (auto other = check_written(outcome, how); other && checks.has(Check::bound)) return other;
  const bool plain = test_.judge_bias || test_.data == "gauss";
  if (checks.has(Check::bound) && plain && !how.own() && result.nmse > kMostNmse)
    return Failure{Check::bound, no_number(result.nmse)};
  if (checks.has(Check::bias) && test_.judge_bias && !how.leans()) {
    if (!result.z) return Failure{Check::bias, "fewer than 256 outputs have an error: the bias cannot be judged"};
    if (std::fabs(*result.z) > kMostBias) {
      return Failure{Check::bias,
                     fmt::format("|z| = {:.1f} over {} units; at most {}: the errors lean to one side, as truncation's do",
                                 std::fabs(*result.z), units.size(), kMostBias)};
    }
  }
  if (!how.own()) return std::nullopt;  // the scalar kernel computes something else
  const auto failure = check_spread(outputs, result);
  return checks.has(Check::spread) ? failure : std::nullopt;
}

std::optional<Failure> CaseCheck::check_spread(const std::vector<Comparison>& outputs, CaseResult& result) const {
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const double scalar = baseline_->scalar_square_sums[o];
    if (outputs[o].compared - outputs[o].bits_only < kLeastSpread) continue;
    if (!(scalar > 0) || !std::isfinite(scalar)) continue;
    const double spread = std::sqrt(outputs[o].square_sum / scalar);
    result.spread = std::max(result.spread.value_or(0), spread);
  }
  if (result.spread.value_or(0) <= kMostSpread) return std::nullopt;
  return Failure{Check::spread, fmt::format("errors are {:.1f} times the scalar kernel's (RMS of the margins); at most {}",
                                            *result.spread, kMostSpread)};
}

std::optional<Failure> CaseCheck::check_bits(const Outcome& outcome) const {
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const TensorSpec& spec = call_.signature().tensors[outputs_[o]];
    const auto canonical = test_.canonical.find(spec.name);
    if (canonical != test_.canonical.end()) {
      const Comparison found = compare_bytes(spec, outcome.outputs[o], canonical->second, any_nan());
      if (found.worst) return Failure{Check::bits, "not the golden's canonical bits: " + describe_miss(spec, *found.worst)};
    }
    const Comparison found = compare_bytes(spec, outcome.outputs[o], whole(spec, baseline_->scalar.outputs[o].bytes), any_nan());
    if (found.worst) return Failure{Check::bits, "not the scalar kernel's bits: " + describe_miss(spec, *found.worst)};
  }
  return std::nullopt;
}

}  // namespace assay
