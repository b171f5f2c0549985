#include "harness/audit/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace assay {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool has_weight(StepKind kind) {
  return kind == StepKind::linear || kind == StepKind::rms_norm || kind == StepKind::embed;
}

std::vector<std::string> places(const char* what, const std::vector<Eigen::Index>& at, Eigen::Index of, std::int64_t first) {
  constexpr std::size_t kShown = 8;
  if (std::ssize(at) == of) return {};
  std::vector<std::int64_t> shown;
  for (std::size_t i = 0; i < std::min(at.size(), kShown); ++i) shown.push_back(first + at[i]);
  return {fmt::format("only {} of {} {}: {}{}", at.size(), of, what, fmt::join(shown, ", "), at.size() > kShown ? ", ..." : "")};
}

}  // namespace

std::string weights_name(const WeightMap& weights) {
  std::set<DType> types;
  for (const Weight& weight : weights.all()) {
    if (!is_norm(weight.role)) types.insert(weight.dtype);
  }
  if (types == std::set<DType>{DType::q4_k, DType::q6_k}) return "q4_k_m";
  std::vector<std::string_view> names;
  for (const DType type : types) names.push_back(dtype_name(type));
  return fmt::format("{}", fmt::join(names, "+"));
}

Judge::Judge(const ModelFile& model, const Recipe& recipe, std::string recorded)
    : model_(model), recipe_(recipe), recorded_(lower(std::move(recorded))), own_(weights_name(model.weights())) {}

const Weight& Judge::weight_of(const SiteWiring& wiring) const {
  return wiring.role == Role::lm_head ? model_.weights().lm_head() : model_.weights().at(wiring.role, wiring.layer);
}

std::string Judge::obstacle(const SiteWiring& wiring, TraceRows& rows) const {
  if (!rows.has(wiring.site)) return "not in the trace";
  if (has_weight(wiring.kind) && wiring.kind != StepKind::rms_norm && recorded_ != own_) {
    return fmt::format("the trace was made with weights in {}, the model's are {}", recorded_, own_);
  }
  if (wiring.kind == StepKind::attention && !rows.all_rows())
    return "keys and values of all positions are needed, and not all rows are kept";
  for (const Source& source : wiring.inputs) {
    if (!rows.gather(source)) return fmt::format("its input {} is not in the trace", source_text(source));
  }
  return {};
}

Judge::Attempt Judge::attempt(const SiteWiring& wiring, TraceRows& rows) const {
  const ModelConfig& config = model_.config();
  Attempt made;
  SiteCall& call = made.call;
  call.kind = wiring.kind;
  call.positions = rows.prompt().positions;
  for (const std::int32_t position : call.positions)
    call.tokens.push_back(rows.prompt().tokens[static_cast<std::size_t>(position)]);
  for (const Source& source : wiring.inputs) call.inputs.push_back(*rows.gather(source));
  call.eps = config.rms_eps;
  call.theta = config.rope_theta;
  call.heads = wiring.heads;
  call.kv_heads = wiring.kv_heads;
  if (has_weight(wiring.kind)) {
    const Weight& weight = weight_of(wiring);
    made.weight = decode_weight(weight);
    call.activations = recipe_.activations(weight.dtype);
  }
  return made;
}

bool Judge::fits(const SiteCall& call, const RowMatrix& value) const {
  try {
    const Truth truth = evaluate(call, recipe_);
    if (truth.value.cols() != value.cols()) return false;
    return excess_of(value, truth).ratio <= 1;
  } catch (const std::invalid_argument&) {
    return false;  // shapes that do not fit explain nothing
  }
}

Judgement Judge::judge(const SiteWiring& wiring, TraceRows& rows, bool explain_wrong) {
  Judgement out;
  out.site = wiring.site;
  out.kind = wiring.kind;
  out.why_not = obstacle(wiring, rows);
  if (!out.why_not.empty()) return out;
  Attempt made = attempt(wiring, rows);
  if (made.weight) made.call.weight = &*made.weight;
  const RowMatrix& value = rows.site(wiring.site);
  Truth truth;
  try {
    truth = evaluate(made.call, recipe_);
    out.excess = excess_of(value, truth);
  } catch (const std::invalid_argument& error) {
    out.verdict = SiteVerdict::wrong;
    out.excess.ratio = HUGE_VAL;
    out.remarks.push_back(fmt::format("its input {} does not fit: {}",
                                      source_text(wiring.inputs.empty() ? Source{} : wiring.inputs[0]), error.what()));
    if (explain_wrong) explain(wiring, rows, out);
    return out;
  }
  if (out.excess.unbounded == value.size()) {
    out.why_not = "no bound holds for its inputs";
    return out;
  }
  out.value = value(out.excess.row, out.excess.column);
  out.truth = truth.value(out.excess.row, out.excess.column);
  out.bound = truth.bound(out.excess.row, out.excess.column);
  out.bounds = truth.bound;
  out.verdict = out.excess.ratio <= 1 ? SiteVerdict::right : SiteVerdict::wrong;
  if (out.verdict == SiteVerdict::right) return out;
  out.remarks = places("outputs", out.excess.columns, value.cols(), 0);
  for (const std::string& remark : places("rows", out.excess.rows, value.rows(), 0)) out.remarks.push_back(remark);
  if (explain_wrong) explain(wiring, rows, out);
  return out;
}

}  // namespace assay
