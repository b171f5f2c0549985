#include "harness/check.h"

#include <fmt/format.h>

#include <cmath>

#include "golden/sha256.h"

namespace assay {
namespace {

constexpr double kMostBias = 6;     // |z| of independent symmetric signs passes it with a chance below 3e-8
constexpr double kMostSpread = 32;  // other orders of summation reach 6.8, truncation 11 to 47

std::string describe_miss(const TensorSpec& spec, const Miss& miss) {
  std::string text = fmt::format("{} = {}, expected {}", element_name(spec, miss.index), miss.got, miss.want);
  if (miss.ulp > 0) text += fmt::format("; margin {:.4g}, {:.4g} ulp", miss.margin, miss.ulp);
  return text;
}

Array zeros_like(const TensorSpec& spec) {
  Array array;
  array.dtype = spec.dtype;
  array.shape = spec.shape;
  array.bytes.resize(static_cast<std::size_t>(spec.elements()) * dtype_size(spec.dtype));
  return array;
}

Kept whole(const TensorSpec& spec, const std::vector<std::uint8_t>& bytes) {
  Kept kept;
  kept.values = zeros_like(spec);
  kept.values.bytes = bytes;
  return kept;
}

}  // namespace

CaseCheck::CaseCheck(const Adapter& adapter, TestCase test, const Ledger* ledger)
    : adapter_(adapter), test_(std::move(test)), ledger_(ledger), call_(adapter, test_.params, std::move(test_.inputs)) {
  const auto& tensors = call_.signature().tensors;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].role == Direction::out) outputs_.push_back(t);
  }
}

// The reference's expectation; where the golden keeps the truth, the golden's.
std::vector<reference::Expected> CaseCheck::expected_outputs() {
  std::vector<reference::Expected> expected = adapter_.reference(test_.params, call_.pointers());
  for (std::size_t o = 0; o < outputs_.size() && bounded(); ++o) {
    const auto truth = test_.truth.find(call_.signature().tensors[outputs_[o]].name);
    if (truth == test_.truth.end()) continue;
    const Kept& kept = truth->second;
    for (std::int64_t k = 0; k < kept.values.elements(); ++k) {
      const std::int64_t i = kept.index.empty() ? k : kept.index[static_cast<std::size_t>(k)];
      expected[o].value[static_cast<std::size_t>(i)] = kept.values.as<double>()[k];
    }
  }
  return expected;
}

void CaseCheck::prepare() {
  if (baseline_) return;
  baseline_.emplace();
  baseline_->scalar = call_.run(adapter_.variants().size() - 1, call_.placements().front());
  if (test_.status != ASSAY_OK) return;
  call_.place(call_.placements().front());
  baseline_->expected = expected_outputs();
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    baseline_->scalar_square_sums.push_back(compare_output(o, baseline_->scalar.outputs[o]).square_sum);
  }
  baseline_->zeros_pass = zeros_would_pass();
}

Comparison CaseCheck::compare_output(std::size_t output, const Array& y) const {
  const TensorSpec& spec = call_.signature().tensors[outputs_[output]];
  const reference::Expected& expected = baseline_->expected[output];
  if (bounded()) return compare_bounded(spec, y, expected, adapter_.contract().bias_unit);
  const auto kept = test_.truth.find(spec.name);
  const Kept* truth = kept == test_.truth.end() ? nullptr : &kept->second;
  if (!exact()) return compare_encoded(y, expected.encoding, truth);
  Comparison result = compare_bytes(spec, y, whole(spec, expected.bytes), any_nan());
  if (truth != nullptr && !result.worst) result = compare_bytes(spec, y, *truth, any_nan());
  return result;
}

bool CaseCheck::zeros_would_pass() const {
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const Comparison zeros = compare_output(o, zeros_like(call_.signature().tensors[outputs_[o]]));
    if (zeros.wrong_class || zeros.margin > 1) return false;
  }
  return true;
}

std::optional<Failure> CaseCheck::check_status(const Outcome& outcome) const {
  if (outcome.status != test_.status) {
    return Failure{Check::exact, fmt::format("returned {}; expected {}", status_name(outcome.status), status_name(test_.status))};
  }
  if (test_.status != ASSAY_OK && !outcome.untouched) return Failure{Check::exact, "refused the call, but wrote to its output"};
  return std::nullopt;
}

std::optional<Failure> CaseCheck::check_values(const Outcome& outcome, const Checks& checks, CaseResult& result) const {
  std::vector<Comparison> outputs;
  std::vector<double> units;
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    outputs.push_back(compare_output(o, outcome.outputs[o]));
    const Comparison& found = outputs.back();
    result.compared += found.compared;
    result.bits_only += found.bits_only;
    const TensorSpec& spec = call_.signature().tensors[outputs_[o]];
    if (!found.note.empty()) result.worst = found.note;
    if (found.worst && found.margin >= result.margin) result.worst = describe_miss(spec, *found.worst);
    result.margin = std::max(result.margin, found.margin);
    units.insert(units.end(), found.bias.begin(), found.bias.end());
  }
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
  if (checks.has(Check::bias) && test_.judge_bias) {
    if (!result.z) return Failure{Check::bias, "fewer than 256 outputs have an error: the bias cannot be judged"};
    if (std::fabs(*result.z) > kMostBias) {
      return Failure{Check::bias,
                     fmt::format("|z| = {:.1f} over {} units; at most {}: the errors lean to one side, as truncation's do",
                                 std::fabs(*result.z), units.size(), kMostBias)};
    }
  }
  const auto failure = check_spread(outputs, result);
  return checks.has(Check::spread) ? failure : std::nullopt;
}

std::optional<Failure> CaseCheck::check_spread(const std::vector<Comparison>& outputs, CaseResult& result) const {
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const double scalar = baseline_->scalar_square_sums[o];
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

std::string CaseCheck::digest_of(const Outcome& outcome) const {
  std::vector<std::uint8_t> bytes{static_cast<std::uint8_t>(outcome.status)};
  for (Array output : outcome.outputs) {
    if (any_nan()) canonicalise_nans(output);
    bytes.insert(bytes.end(), output.bytes.begin(), output.bytes.end());
  }
  return sha256(bytes).substr(0, 32);
}

std::optional<Failure> CaseCheck::check_ledger(const CaseResult& result) const {
  const auto known = ledger_ == nullptr ? std::nullopt : ledger_->digest(result.op, result.case_name);
  if (!known || *known == result.digest) return std::nullopt;
  return Failure{Check::ledger,
                 fmt::format("drift: digest {}, the ledger has {}; inside the bound (margin {:.4g}). If it is meant: "
                             "assay ledger accept {} --why \"...\"",
                             result.digest, *known, result.margin, result.op)};
}

std::optional<Failure> CaseCheck::compare_layout(const Outcome& first, const Outcome& other, const std::string& layout) const {
  if (!other.violation.empty()) return Failure{Check::guard, other.violation};
  if (other.status != first.status) {
    return Failure{Check::guard, fmt::format("returned {} when placed {}, {} before", status_name(other.status), layout,
                                             status_name(first.status))};
  }
  if (test_.status != ASSAY_OK) return std::nullopt;
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const TensorSpec& spec = call_.signature().tensors[outputs_[o]];
    const Comparison found = compare_bytes(spec, other.outputs[o], whole(spec, first.outputs[o].bytes), any_nan());
    if (found.worst)
      return Failure{Check::guard, fmt::format("other bits when placed {}: {}", layout, describe_miss(spec, *found.worst))};
  }
  return std::nullopt;
}

// Every further placement, and the call cut among two threads, must keep its surroundings and the bits.
std::optional<Failure> CaseCheck::check_memory(std::size_t variant, const Outcome& first, CaseResult& result) {
  const std::vector<Placement> placements = call_.placements();
  for (std::size_t p = 1; p < placements.size(); ++p) {
    ++result.placements;
    if (auto failure = compare_layout(first, call_.run(variant, placements[p]), placements[p].name)) return failure;
  }
  if (test_.status != ASSAY_OK) return std::nullopt;
  for (const Split& split : call_.signature().splits) {
    ++result.placements;
    const std::string layout = fmt::format("cut by {} among 2 threads", split.param);
    if (auto failure = compare_layout(first, call_.run_split(variant, split, 2), layout)) return failure;
  }
  return std::nullopt;
}

CaseResult CaseCheck::check(std::size_t variant, const Checks& checks) {
  const Variant which = adapter_.variants()[variant];
  CaseResult result;
  result.op = adapter_.op();
  result.variant = which.name;
  result.case_name = test_.name;
  result.source = test_.source;
  result.tags = test_.tags;
  result.seed = test_.seed;
  result.refusal = test_.status != ASSAY_OK;
  result.repro = fmt::format("assay check {} --isa {} {}", result.op, isa_name(which.isa), test_.repro);
  if (!checks.off_to_string().empty()) result.repro += " --checks " + checks.to_string();

  prepare();
  const Outcome outcome = call_.run(variant, call_.placements().front());
  result.placements = 1;
  result.digest = digest_of(outcome);
  result.in_ledger = ledger_ != nullptr && ledger_->digest(result.op, test_.name).has_value();
  // In the order of the verdict; the first that fails is the one reported.
  auto& failure = result.failure;
  if (checks.has(Check::guard) && !outcome.violation.empty()) failure = Failure{Check::guard, outcome.violation};
  if (!failure && checks.has(Check::exact)) failure = check_status(outcome);
  if (!failure && result.refusal) result.compared = 1;
  if (!failure && !result.refusal) failure = check_values(outcome, checks, result);
  if (!failure && !result.refusal && checks.has(Check::bits)) failure = check_bits(outcome);
  if (!failure && checks.has(Check::ledger)) failure = check_ledger(result);
  if (!failure && checks.has(Check::guard)) failure = check_memory(variant, outcome, result);

  const bool blind = !result.refusal && baseline_->zeros_pass;
  result.trivial = blind && test_.has_tag("trivial");
  if (failure) {
    result.verdict = Verdict::fail;
  } else if (blind && !result.trivial) {
    result.verdict = Verdict::mistrusted;
  }
  return result;
}

}  // namespace assay
