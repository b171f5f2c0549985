#include "harness/forensics/explain/evidence.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "harness/verdict/draw.h"
#include "harness/verdict/drawn_case.h"
#include "harness/verdict/strided.h"
#include "reference/encode_k.h"
#include "reference/ops/split.h"
#include "reference/ops/status.h"

namespace assay::why {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::int64_t kMostLaid = std::int64_t{1} << 24;
constexpr std::uint64_t kOtherSeed = 0x9e3779b9;  // of what lies around tensors, and in outputs before the call

bool skipped(const reference::Expected& expected, std::size_t at) {
  return !expected.bits_only.empty() && expected.bits_only[at] != 0;
}

bool both_nan(const TensorSpec& spec, const Array& got, const reference::Expected& said, std::size_t at) {
  const std::size_t byte = at * dtype_size(spec.dtype);
  return is_float(spec.dtype) && !said.bytes.empty() && std::isnan(element_as_double(spec.dtype, &said.bytes[byte])) &&
         std::isnan(element_as_double(spec.dtype, &got.bytes[byte]));
}

bool same_bytes(const Op& op, DType dtype, const std::uint8_t* one, const std::uint8_t* other) {
  if (std::memcmp(one, other, dtype_size(dtype)) == 0) return true;
  return op.contract->arithmetic_nans && std::isnan(element_as_double(dtype, one)) && std::isnan(element_as_double(dtype, other));
}

// The share of the whole call's error that a block may have which one block has.
double block_margin(const reference::Encoding& encoding, const std::uint8_t* block, std::int64_t index) {
  const auto numbers = static_cast<std::size_t>(dtype_numbers(encoding.format));
  const auto first = static_cast<std::ptrdiff_t>(numbers) * index;
  const auto last = first + static_cast<std::ptrdiff_t>(numbers);
  const reference::Encoding part{encoding.format,
                                 {encoding.source.begin() + first, encoding.source.begin() + last},
                                 {encoding.weight.begin() + first, encoding.weight.begin() + last},
                                 {}};
  const double error = reference::encoded_error(part, block).weighted;
  return error <= reference::kMostEncodedError * encoding.fallback.weighted ? 0 : kInfinite;
}

std::vector<Mask> wrong_elements(const Op& op, const JudgedCall& call) {
  std::vector<Mask> masks;
  for (const TensorSpec& spec : call.signature.tensors) {
    if (spec.role == Direction::in) continue;
    const std::size_t o = masks.size();
    Mask& mask = masks.emplace_back(static_cast<std::size_t>(spec.elements()));
    for (std::size_t i = 0; i < mask.size(); ++i)
      mask[i] = margin_at(op, spec, call.outputs[o], call.expected[o], static_cast<std::int64_t>(i)) > 1;
  }
  return masks;
}

bool any(const std::vector<Mask>& masks) {
  return std::ranges::any_of(masks, [](const Mask& mask) { return std::ranges::find(mask, true) != mask.end(); });
}

Mask equal_elements(const Array& one, const Array& other) {
  const std::size_t size = dtype_size(one.dtype);
  Mask mask(one.bytes.size() / size);
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = std::memcmp(&one.bytes[i * size], &other.bytes[i * size], size) == 0;
  return mask;
}

// Where numbers lie around tensors and in gaps: what is read there is then no NaN that hides what comes of it.
Placement with_numbers(const Call& call) {
  Placement placement = call.placements().front();
  placement.poison = Poison::Kind::numbers;
  return placement;
}

// The inputs of a placed call with their gaps; empty where they have none, or are large.
std::vector<std::vector<std::uint8_t>> laid_inputs(const Call& call) {
  std::vector<std::vector<std::uint8_t>> laid;
  for (std::size_t t = 0; t < call.signature().tensors.size(); ++t) {
    const TensorSpec& spec = call.signature().tensors[t];
    if (spec.role == Direction::out) continue;
    const auto* const bytes = static_cast<const std::uint8_t*>(call.pointers()[t]);
    const bool kept = spec.extent() > spec.elements() && spec.extent() < kMostLaid;
    laid.emplace_back(bytes, bytes + (kept ? spec.extent_bytes() : 0));
  }
  return laid;
}

// What a call's outputs hold when it begins: the same as in another call of that seed.
std::vector<Array> outputs_before(const Op& op, const Evidence& one, std::size_t page) {
  Call call(op, one.params, one.call->inputs, page, kOtherSeed);
  call.place(with_numbers(call));
  std::vector<Array> before;
  for (std::size_t t = 0; t < call.signature().tensors.size(); ++t) {
    const TensorSpec& spec = call.signature().tensors[t];
    if (spec.role == Direction::out) before.push_back(gather(spec, call.pointers()[t]));
  }
  return before;
}

// What the kernel leaves of its outputs, and whether it reads them: it is called once more, with other bytes there.
bool call_again(const Op& op, Evidence& one, const Candidate& candidate, std::size_t page) {
  Call again(op, one.params, one.call->inputs, page, kOtherSeed);
  again.allow_over_read(candidate.traits.over_read());
  Outcome outcome = again.run(*candidate.executor, with_numbers(again));
  if (outcome.crashed || outcome.status != ASSAY_OK) return false;
  one.before = outputs_before(op, one, page);
  for (std::size_t o = 0; o < outcome.outputs.size(); ++o) {
    one.unwritten.push_back(equal_elements(outcome.outputs[o], one.before[o]));
    const Mask same = equal_elements(outcome.outputs[o], one.call->outputs[o]);
    for (std::size_t i = 0; i < same.size(); ++i) one.unsteady = one.unsteady || (!same[i] && !one.unwritten[o][i]);
  }
  one.recovers = !any(wrong_elements(op, {one.call->signature, {}, outcome.outputs, one.call->expected}));
  one.laid = laid_inputs(again);
  one.again = std::move(outcome.outputs);
  return true;
}

}  // namespace

std::vector<const TensorSpec*> Evidence::tensors(Direction role) const {
  std::vector<const TensorSpec*> found;
  for (const TensorSpec& spec : call->signature.tensors) {
    if (spec.role == role) found.push_back(&spec);
  }
  return found;
}

Params frozen(const Op& op, const Params& params) {
  Params whole = params;
  const Signature signature = signature_of(op, params);
  const std::vector<void*> tensors(signature.tensors.size(), nullptr);
  const Arguments arguments(op, params, tensors);
  for (const Field& field : op.family->fields) {
    const std::string name = field.param == nullptr ? field.name : field.param;
    const bool number = field.kind == FieldKind::size || field.kind == FieldKind::number;
    if (!number || field.otherwise == nullptr || field.at_least || name.empty() || params.has(name)) continue;
    if (name == "m" || name == "rows" || name == "n_heads") continue;  // of forms that have one row; heads are groups of kv heads
    std::int64_t value = 0;
    std::memcpy(&value, static_cast<const std::byte*>(arguments.data()) + field.offset, sizeof value);
    whole.set(name, value);
  }
  return whole;
}

namespace {

// Without a call.
Evidence evidence_on(const Op& op, std::string name, const Params& params) {
  Evidence found;
  found.name = std::move(name);
  found.params = params;
  found.whole = frozen(op, params);
  found.work = work_of(op, params);
  return found;
}

std::vector<Contents> contents_of_inputs(const Evidence& one) {
  std::vector<Contents> contents;
  for (const TensorSpec* const spec : one.inputs()) contents.push_back(contents_of(*spec, one.call->inputs[contents.size()]));
  return contents;
}

}  // namespace

std::optional<Evidence> evidence_of(const Op& op, const CaseResult& result, const Candidate& candidate, std::size_t page) {
  if (!result.call || result.refusal || result.crashed) return std::nullopt;
  Evidence found = evidence_on(op, result.case_name, result.params);
  found.call = result.call;
  if (result.seed && !is_bias(result.case_name) && found.work > kWholeTruth) found.sample = result.seed;
  found.contents = contents_of_inputs(found);
  if (!result.failure) return found;
  found.wrong = wrong_elements(op, *found.call);
  if (!any(found.wrong)) return std::nullopt;  // by its status, say
  return call_again(op, found, candidate, page) ? std::optional(std::move(found)) : std::nullopt;
}

std::optional<Evidence> recorded_evidence(const Op& op, std::string name, const Params& params, std::vector<Array> inputs,
                                          std::vector<Array> outputs) {
  Evidence found = evidence_on(op, std::move(name), params);
  const auto truth = reference_of(op, params, inputs, found);
  if (!truth) return std::nullopt;
  found.call = std::make_shared<JudgedCall>(signature_of(op, params), std::move(inputs), std::move(outputs), truth->outputs);
  found.contents = contents_of_inputs(found);
  std::vector<Mask> wrong = wrong_elements(op, *found.call);
  if (!any(wrong)) return found;
  for (const Array& one : found.call->outputs) {  // zeros may be what was there before
    Array zeros{one.dtype, one.shape, std::vector<std::uint8_t>(one.bytes.size())};
    found.unwritten.push_back(equal_elements(one, zeros));
  }
  found.wrong = std::move(wrong);
  found.again = found.call->outputs;
  found.laid.resize(found.call->inputs.size());
  return found;
}

std::optional<Prediction> reference_of(const Op& op, const Params& params, const std::vector<Array>& inputs, const Evidence& like,
                                       const reference::Arithmetic& how) {
  try {
    const Signature signature = signature_of(op, params);
    const LaidInputs laid(signature, inputs);
    if (required_status(op, params, laid.tensors()) != ASSAY_OK) return std::nullopt;
    return Prediction{like.sample ? sampled_outputs(op, params, laid.tensors(), *like.sample, how)
                                  : reference_outputs(op, params, laid.tensors(), how)};
  } catch (const std::logic_error&) {  // no such call
    return std::nullopt;
  }
}

double margin_at(const Op& op, const TensorSpec& spec, const Array& got, const reference::Expected& expected,
                 std::int64_t index) {
  const auto at = static_cast<std::size_t>(index);
  if (skipped(expected, at)) return 0;
  const std::uint8_t* const element = &got.bytes[at * dtype_size(spec.dtype)];
  switch (op.contract->exactness) {
    case reference::Exactness::bounded:
      return element_margin(spec, got, expected, index, op.contract->keeps_sign);
    case reference::Exactness::exact:
      return same_bytes(op, spec.dtype, element, &expected.bytes[at * dtype_size(spec.dtype)]) ? 0 : kInfinite;
    case reference::Exactness::encoded:
      return block_margin(expected.encoding, element, index);
  }
  return kInfinite;
}

double margin_of(const Op& op, const Evidence& evidence, const Prediction& prediction) {
  double most = 0;
  const std::vector<const TensorSpec*> specs = evidence.outputs();
  const std::vector<Array>& got = prediction.of_again ? evidence.again : evidence.call->outputs;
  for (std::size_t o = 0; o < specs.size(); ++o) {
    const std::int64_t count = specs[o]->elements();
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const bool left = !prediction.unwritten.empty() && prediction.unwritten[o][at];
      if (left) {
        if (!evidence.fails() && skipped(evidence.call->expected[o], at)) continue;  // whatever it holds, it passes
        if (!evidence.fails() || !evidence.unwritten[o][at]) return kInfinite;
        continue;
      }
      if (prediction.any_nan && both_nan(*specs[o], got[o], prediction.outputs[o], at)) continue;
      most = std::max(most, margin_at(op, *specs[o], got[o], prediction.outputs[o], i));
      if (most == kInfinite) return most;
    }
  }
  return most;
}

bool evades(const Evidence& evidence, const Prediction& prediction) {
  for (std::size_t o = 0; o < evidence.wrong.size(); ++o) {
    const reference::Expected& said = prediction.outputs[o];
    for (std::size_t i = 0; i < evidence.wrong[o].size(); ++i) {
      const bool left = !prediction.unwritten.empty() && prediction.unwritten[o][i];
      if (evidence.wrong[o][i] && !left && skipped(said, i)) return true;
    }
  }
  return false;
}

}  // namespace assay::why
