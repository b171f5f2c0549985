// What kernels declare (harness/interop/plugin/properties.h), held to what it says, and whether it was seen.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/verdict/check.h"
#include "harness/verdict/element_text.h"
#include "reference/ops/find.h"

namespace assay {
namespace {

constexpr int kLanesOfLinear = 16;  // docs/numerics.md, "linear"

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
  if (!candidate.placed && test.status != ASSAY_OK) return false;
  return candidate.traits.takes_nan() || std::ranges::all_of(test.inputs, all_finite);
}

void CaseCheck::leave_out(const Candidate& candidate, const Checks& checks) {
  candidate.record->not_asked.push_back(test_.name);
  if (!candidate.placed || candidate.record->seen.contains(kNan)) return;
  prepare(candidate);
  call_.allow_over_read(candidate.traits.over_read());
  const Outcome outcome = call_.run(*candidate.executor, call_.placements().front());
  CaseResult unused;
  const bool right =
      !outcome.crashed && !check_status(outcome) && (refused() || !check_values(candidate, outcome, checks, unused));
  if (!right) candidate.record->seen.insert(kNan);
}

// Where nothing may be read past an end.
void CaseCheck::look_for_over_read(const Candidate& candidate) {
  if (candidate.traits.over_read() == 0 || candidate.record->seen.contains(kOverRead)) return;
  call_.allow_over_read(0);
  if (call_.run(*candidate.executor, call_.placements().front()).crashed) candidate.record->seen.insert(kOverRead);
}

// Of a kernel whose bits may depend on what has changed, as its trait says: right by itself.
std::optional<Failure> CaseCheck::compare_freely(const Outcome& first, const Outcome& other, const std::string& how,
                                                 const Candidate& candidate, std::string_view trait, const Checks& checks) const {
  if (!other.violation.empty() && checks.has(Check::guard)) return Failure{Check::guard, other.violation};
  if (!other_bits(first, other).empty()) candidate.record->seen.insert(trait);
  CaseResult unused;
  auto failure = check_values(candidate, other, checks, unused);
  if (failure) failure->message += ", " + how;
  return failure;
}

// The parts of a call, one after the other.
std::optional<Failure> CaseCheck::compare_cut(const Outcome& whole, const Outcome& parts, const std::string& how,
                                              const Candidate& candidate, const Checks& checks) const {
  const bool same_call = call_.signature().splits.empty();
  if (same_call || candidate.traits.cut_invariant() || parts.crashed || parts.status != whole.status)
    return compare_layout(whole, parts, how, candidate, "not batch invariant", checks);
  const std::string_view trait = candidate.traits.batch_invariant() ? kPlacementInvariant : kBatchInvariant;
  return compare_freely(whole, parts, how, candidate, trait, checks);
}

// The call elsewhere.
std::optional<Failure> CaseCheck::check_placed(const Candidate& candidate, const Outcome& first, const Placement& placement,
                                               const Checks& checks, CaseResult& result) {
  if (placement.before != Before::nothing) {
    std::string fault = call_.run_other_data(*candidate.executor, placement);
    if (!fault.empty()) return Failure{Check::guard, std::move(fault)};
  }
  const Outcome other = call_.run(*candidate.executor, placement);
  result.crashed = other.crashed;
  const std::string how = "when placed " + placement.name;
  const bool free = !candidate.traits.placement_invariant() && !refused();
  if (free && !other.crashed && other.status == first.status)
    return compare_freely(first, other, how, candidate, kPlacementInvariant, checks);
  const char* const trait = placement.before == Before::nothing ? "depends on its placement" : "remembers other data";
  return compare_layout(first, other, how, candidate, trait, checks);
}

void CaseCheck::prepare(const Candidate& candidate) {
  InProcess scalar(op_.kernels().back().run);
  prepare(is_scalar(candidate) ? *candidate.executor : scalar);
  scalar.settle();  // what it left is not the candidate's
  const reference::Arithmetic& how = candidate.arithmetic;
  const auto known = std::ranges::find(baseline_->declared, how, [](const auto& one) { return one.first; });
  if (how.own() || refused() || known != baseline_->declared.end()) return;
  call_.place(call_.placements().front());
  baseline_->declared.emplace_back(how, expected_outputs(op_, test_, call_.pointers(), how));
}

const std::vector<reference::Expected>& CaseCheck::expected(const reference::Arithmetic& how) const {
  if (how.own()) return baseline_->expected;
  return std::ranges::find(baseline_->declared, how, [](const auto& one) { return one.first; })->second;
}

// Of blocks by blocks, whose order the op fixes: whether the outputs are what the linear op of the same blocks grants.
std::string CaseCheck::granted_elsewhere(const Candidate& candidate, const Outcome& outcome) {
  if (!candidate.arithmetic.own() || std::string_view(op_.family->name) != "product" || !is_block(op_.to)) return "";
  const Op* const linear = find_product(ProductForm::linear, plain_dtype(op_.from), op_.to);
  if (linear == nullptr || linear == &op_) return "";
  reference::Arithmetic any;
  any.order = {reference::Order::Kind::lanes, kLanesOfLinear};
  call_.place(call_.placements().front());
  const auto granted = expected_outputs(op_, test_, call_.pointers(), any);
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const Comparison found =
        assay::compare_output(op_, call_.signature().tensors[outputs_[o]], granted[o], nullptr, outcome.outputs[o]);
    if (found.wrong_class || found.margin > 1) return "";
  }
  return fmt::format("; in up to {} lanes it would be right: {} grants that order, or declare order=lanes:N", kLanesOfLinear,
                     linear->name);
}

// The first result that is no number of the type that all are declared to be rounded to; what is copied is not.
std::optional<Failure> CaseCheck::check_written(const Outcome& outcome, const reference::Arithmetic& how) const {
  for (std::size_t o = 0; how.out != nullptr && o < outputs_.size(); ++o) {
    const std::vector<double>& bound = expected(how)[o].bound;
    for (std::size_t i = 0; i < bound.size(); ++i) {
      const double value = outcome.outputs[o].number(static_cast<std::int64_t>(i));
      if (bound[i] == 0 || !std::isfinite(value) || how.out->round(value) == value) continue;
      return Failure{Check::bound, fmt::format("out={} is declared; {} = {} is no number of that type", how.out->name,
                                               element_name(call_.signature().tensors[outputs_[o]], static_cast<std::int64_t>(i)),
                                               static_cast<float>(value))};
    }
  }
  return std::nullopt;
}

std::optional<double> CaseCheck::price_of(const Outcome& outcome, const Candidate& candidate) const {
  if (candidate.arithmetic.own()) return std::nullopt;
  double price = 0;
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const Comparison found = compare_output(o, outcome.outputs[o]);
    price = std::max(price, found.wrong_class ? std::numeric_limits<double>::infinity() : found.margin);
  }
  candidate.record->price = std::max(candidate.record->price, price);
  return price;
}

}  // namespace assay
