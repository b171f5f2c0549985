#include "harness/verdict/check.h"

#include <fmt/format.h>

#include <cmath>

#include "golden/sha256.h"
#include "harness/verdict/cases.h"
#include "harness/verdict/draw.h"
#include "reference/ops/split.h"
#include "reference/ops/status.h"

namespace assay {
namespace {

Array zeros_like(const TensorSpec& spec) {
  Array array;
  array.dtype = spec.dtype;
  array.shape = spec.shape;
  array.bytes.resize(static_cast<std::size_t>(spec.elements()) * dtype_size(spec.dtype));
  return array;
}

}  // namespace

std::size_t JudgedCall::bytes() const {
  std::size_t sum = 0;
  for (const Array& one : inputs) sum += one.bytes.size();
  for (const Array& one : outputs) sum += one.bytes.size();
  for (const reference::Expected& one : expected)
    sum += (one.value.size() + one.bound.size()) * sizeof(double) + one.bytes.size();
  return sum;
}

bool judges_layouts(const Candidate& candidate, const Checks& checks) {
  if (!candidate.placed) return false;
  return checks.has(Check::guard) || (checks.has(Check::bits) && !candidate.canonical);
}

std::string ledger_key(const std::string& op, const std::string& variant) {
  return op + " " + variant;
}

CaseCheck::CaseCheck(const Op& op, TestCase test, const Ledger* ledger, std::size_t page, std::uint64_t seed)
    : op_(op),
      test_(std::move(test)),
      ledger_(ledger),
      seed_(seed),
      call_(op, test_.params, std::move(test_.inputs), page, seed ^ seed_of(test_.name)) {
  const auto& tensors = call_.signature().tensors;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].role == Direction::out) outputs_.push_back(t);
  }
}

bool is_sampled(const Op& op, const TestCase& test) {
  return test.seed && !test.judge_bias && work_of(op, test.params) > kWholeTruth;
}

std::vector<reference::Expected> expected_outputs(const Op& op, const TestCase& test, std::span<void* const> tensors,
                                                  const reference::Arithmetic& how) {
  std::vector<reference::Expected> expected = is_sampled(op, test)
                                                  ? sampled_outputs(op, test.params, tensors, test.seed.value_or(0), how)
                                                  : reference_outputs(op, test.params, tensors, how);
  if (op.contract->exactness != reference::Exactness::bounded || how.rounds_operands()) return expected;
  std::size_t o = 0;
  for (const TensorSpec& spec : signature_of(op, test.params).tensors) {
    if (spec.role == Direction::in) continue;
    reference::Expected& of_output = expected[o++];
    const auto truth = test.truth.find(spec.name);
    if (truth == test.truth.end()) continue;
    const Kept& kept = truth->second;
    for (std::int64_t k = 0; k < kept.values.elements(); ++k) {
      const std::int64_t i = kept.index.empty() ? k : kept.index[static_cast<std::size_t>(k)];
      double& value = of_output.value[static_cast<std::size_t>(i)];
      const double golden = kept.values.as<double>()[k];
      value =
          golden == 0 ? std::copysign(golden, value) : golden;  // sums of exact numbers know no -0: the definition has the sign
    }
  }
  return expected;
}

void CaseCheck::prepare(Executor& scalar) {
  if (baseline_) return;
  baseline_.emplace();
  baseline_->scalar = call_.run(scalar, call_.placements().front());
  if (test_.status != ASSAY_OK) return;
  call_.place(call_.placements().front());
  baseline_->expected = expected_outputs(op_, test_, call_.pointers());
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    baseline_->scalar_square_sums.push_back(compare_output(o, baseline_->scalar.outputs[o]).square_sum);
  }
  baseline_->zeros_pass = zeros_would_pass();
}

Comparison compare_output(const Op& op, const TensorSpec& spec, const reference::Expected& expected, const Kept* golden,
                          const Array& y) {
  const reference::Contract& contract = *op.contract;
  if (contract.exactness == reference::Exactness::bounded) return compare_expected(contract, spec, y, expected);
  if (contract.exactness == reference::Exactness::encoded) return compare_encoded(y, expected.encoding, golden);
  Comparison result = compare_expected(contract, spec, y, expected);
  if (golden != nullptr && !result.worst) result = compare_bytes(spec, y, *golden, contract.arithmetic_nans);
  return result;
}

Comparison CaseCheck::compare_output(std::size_t output, const Array& y, const reference::Arithmetic& how) const {
  const TensorSpec& spec = call_.signature().tensors[outputs_[output]];
  const auto kept = test_.truth.find(spec.name);
  return assay::compare_output(op_, spec, expected(how)[output], kept == test_.truth.end() ? nullptr : &kept->second, y);
}

bool CaseCheck::zeros_would_pass() const {
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const TensorSpec& spec = call_.signature().tensors[outputs_[o]];
    const reference::Expected& expected = baseline_->expected[o];
    const Array zeros = zeros_like(spec);
    // The first that tells is enough.
    for (std::int64_t i = 0, count = bounded() ? zeros.elements() : 0; i < count; ++i)
      if (element_margin(spec, zeros, expected, i, op_.contract->keeps_sign) > 1) return false;
    const bool exact = op_.contract->exactness == reference::Exactness::exact && expected.bits_only.empty();
    if (exact && zeros.bytes != expected.bytes) return false;
    if (!bounded() && compare_output(o, zeros).margin > 1) return false;
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

std::string CaseCheck::digest_of(const Outcome& outcome) const {
  std::vector<std::uint8_t> bytes{static_cast<std::uint8_t>(outcome.status)};
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    Array output = outcome.outputs[o];
    // Of a refused call it holds poison, which is another for each seed.
    if (outcome.untouched && !call_.signature().tensors[outputs_[o]].in_place_only) std::ranges::fill(output.bytes, 0xff);
    if (any_nan()) canonicalise_nans(output);
    bytes.insert(bytes.end(), output.bytes.begin(), output.bytes.end());
  }
  return sha256(bytes).substr(0, 32);
}

// Ours by op; a stranger's that claims our bits is held to ours too, and to its owner's by its own name. The same bits have the same
// margin: where it moved, what they are held to did.
std::optional<Failure> CaseCheck::check_ledger(const Candidate& candidate, const CaseResult& result) const {
  const auto differs = [&](const Ledger* ledger, const std::string& key, const std::string& whose) -> std::optional<Failure> {
    const auto known = ledger == nullptr ? std::nullopt : ledger->digest(key, result.case_name);
    if (!known) return std::nullopt;
    const auto before = ledger->margin(key, result.case_name);
    const bool same_bits = *known == result.digest;
    if (same_bits && (!before || is_kept_margin(result.margin, *before))) return std::nullopt;
    const std::string what = same_bits ? "the same bits have another margin, so truth or bound moved"
                                       : fmt::format("drift: digest {}, the ledger has {}", result.digest, *known);
    const std::string then = before ? fmt::format("{:.4g}", *before) : "not kept";
    return Failure{Check::ledger, fmt::format("{}; margin {:.4g}, then {}: inside the bound. If it is meant: "
                                              "assay ledger accept {}{} --why \"...\"",
                                              what, result.margin, then, result.op, whose)};
  };
  const std::string options = " " + candidate.acceptance;
  if (auto failure = differs(candidate.own_ledger, ledger_key(result.op, candidate.name), options)) return failure;
  return candidate.canonical ? differs(ledger_, result.op, "") : std::nullopt;
}

bool CaseCheck::known_to_ledger(const Candidate& candidate) const {
  const std::string op(op_.name);
  const bool ours = candidate.canonical && ledger_ != nullptr && ledger_->digest(op, test_.name);
  return ours || (candidate.own_ledger != nullptr && candidate.own_ledger->digest(ledger_key(op, candidate.name), test_.name));
}

CaseResult CaseCheck::check(const Variant& variant, const Checks& checks) {
  InProcess executor(variant.run);
  return check({.name = variant.name, .selection = "--isa " + std::string(isa_name(variant.isa)), .executor = &executor}, checks);
}

CaseResult CaseCheck::check(const Candidate& candidate, const Checks& checks, bool threads) {
  CaseResult result;
  result.op = op_.name;
  result.variant = candidate.name;
  result.case_name = test_.name;
  result.source = test_.source;
  result.tags = test_.tags;
  result.seed = test_.seed;
  result.drawn = test_.drawn;
  result.data = test_.data;
  result.params = test_.params;
  result.refusal = test_.status != ASSAY_OK;
  result.repro = fmt::format("assay check {} {} {}", result.op, candidate.selection, test_.repro);
  if (!checks.off_to_string().empty()) result.repro += " --checks " + checks.to_string();

  call_.allow_over_read(candidate.traits.over_read());
  Raced raced;
  if (threads && judges_layouts(candidate, checks)) raced = race(candidate);
  prepare(candidate);
  // Who has not come back from a race is not called again.
  const bool lost = !raced.empty() && raced.back()[0].crashed;
  const Outcome outcome = lost                  ? raced.back()[0]
                          : is_known(candidate) ? baseline_->scalar
                                                : call_.run(*candidate.executor, call_.placements().front());
  result.placements = 1 + std::ssize(raced);
  if (!test_.drawn || candidate.drawn_digests) result.digest = digest_of(outcome);
  result.in_ledger = known_to_ledger(candidate);
  result.failure = judge(candidate, outcome, checks, result);
  if (!raced.empty() && !result.failure) result.failure = check_crowds(candidate, outcome, raced, checks, result);
  const std::string left = candidate.executor->settle();
  if (!result.failure && !left.empty() && checks.has(Check::guard)) result.failure = Failure{Check::guard, left};
  if (!candidate.canonical && checks.has(Check::bits) && (!result.failure || result.failure->check == Check::bits)) {
    result.stability = result.failure ? result.failure->message.substr(0, result.failure->message.find(':')) : "stable";
  }

  if (!result.failure) look_for_over_read(candidate);
  if ((result.failure || candidate.keeps_calls) && !result.refusal)
    result.call =
        std::make_shared<JudgedCall>(call_.signature(), call_.inputs(), outcome.outputs, expected(candidate.arithmetic));
  const bool blind = !result.refusal && baseline_->zeros_pass;
  result.trivial = blind && test_.has_tag("trivial");
  if (result.failure) {
    result.verdict = Verdict::fail;
  } else if (blind && !result.trivial) {
    result.verdict = Verdict::mistrusted;
  }
  return result;
}

// In the order of the verdict; the first that fails is the one reported.
std::optional<Failure> CaseCheck::judge(const Candidate& candidate, const Outcome& outcome, const Checks& checks,
                                        CaseResult& result) {
  std::optional<Failure> failure;
  result.crashed = outcome.crashed;
  if (outcome.crashed || (checks.has(Check::guard) && !outcome.violation.empty()))
    return Failure{Check::guard, outcome.violation};
  if (checks.has(Check::exact)) failure = check_status(outcome);
  if (!failure && result.refusal) result.compared = 1;
  if (!failure && !result.refusal) failure = check_values(candidate, outcome, checks, result);
  if (!failure && !result.refusal) failure = check_unsampled(candidate, outcome, checks);
  if (failure && failure->check == Check::bound) failure->message += granted_elsewhere(candidate, outcome);
  if (!failure && !result.refusal && checks.has(Check::bits) && candidate.canonical) failure = check_bits(outcome);
  if (!failure && checks.has(Check::bits) && !candidate.canonical) failure = check_repeats(candidate, outcome, result);
  if (!failure && checks.has(Check::ledger)) failure = check_ledger(candidate, result);
  if (!failure && judges_layouts(candidate, checks)) failure = check_layouts(candidate, outcome, checks, result);
  return failure;
}

}  // namespace assay
