#include "harness/forensics/audit/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "harness/forensics/audit/explain.h"

namespace assay {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// "0 .. 127, 130": runs of ascending numbers.
std::string ranges_text(const std::vector<std::int64_t>& numbers) {
  constexpr int kShown = 6;
  std::string text;
  int shown = 0;
  for (std::size_t first = 0; first < numbers.size(); ++shown) {
    if (shown == kShown) return text + ", ...";
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += first == 0 ? "" : ", ";
    text += last == first ? fmt::format("{}", numbers[first]) : fmt::format("{} .. {}", numbers[first], numbers[last]);
    first = last + 1;
  }
  return text;
}

// Nothing where it is everywhere.
std::vector<std::string> places(const char* what, const std::vector<std::int64_t>& at, std::int64_t of) {
  if (std::ssize(at) == of) return {};
  return {fmt::format("only {} of {} {}: {}", at.size(), of, what, ranges_text(at))};
}

// Where nothing explains the values, what comes near: it leaves at most a tenth.
void add_explanations(Judgement& out, const WrongSite& site) {
  constexpr double kNear = 0.1;
  Explained explained = explain(site);
  out.explanations = std::move(explained.by);
  if (!out.explanations.empty() || explained.nearest.empty() || !(explained.left <= kNear * out.excess.ratio)) return;
  out.remarks.push_back(
      fmt::format("nearest: {}, which leaves {:.2g} of {:.2g} bounds", explained.nearest, explained.left, out.excess.ratio));
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

Judge::Judge(const ModelFile& model, const Recipe& recipe, std::string recorded, Team& team)
    : model_(model), recipe_(recipe), recorded_(lower(std::move(recorded))), team_(team), own_(weights_name(model.weights())) {}

const Weight& weight_of(const ModelFile& model, const SiteWiring& wiring) {
  return wiring.role == Role::lm_head ? model.weights().lm_head() : model.weights().at(*wiring.role, wiring.weight_layer);
}

std::string Judge::obstacle(const SiteWiring& wiring, TraceRows& rows) const {
  if (!rows.has(wiring.site)) return "not in the trace";
  if (wiring.role && !is_norm(*wiring.role) && recorded_ != own_) {
    return fmt::format("the trace was made with weights in {}, the model's are {}", recorded_, own_);
  }
  if (wiring.formula == Formula::attention && !rows.all_rows())
    return "keys and values of all positions are needed, and not all rows are kept";
  for (const Source& source : wiring.inputs) {
    if (!rows.has_all(source)) return fmt::format("its input {} is not in the trace", source_text(source));
  }
  return {};
}

Judge::Attempt Judge::attempt(const SiteWiring& wiring, TraceRows& rows) const {
  const ModelConfig& config = model_.config();
  Attempt made;
  SiteCall& call = made.call;
  call.formula = wiring.formula;
  call.positions = rows.prompt().positions;
  for (const std::int32_t position : call.positions)
    call.tokens.push_back(rows.prompt().tokens[static_cast<std::size_t>(position)]);
  for (const Source& source : wiring.inputs) call.inputs.push_back(*rows.gather(source));
  call.eps = config.rms_eps;
  call.theta = config.rope_theta;
  call.heads = wiring.heads;
  call.kv_heads = wiring.kv_heads;
  call.window = wiring.window;
  if (wiring.role) {
    const Weight& weight = weight_of(model_, wiring);
    made.stored = &weight;
    made.weight.emplace(weight);
    const bool table = recipe_.table != WeightRounding::none && weight.role == Role::embed;
    const WeightRounding rounding = table ? recipe_.table : recipe_.weights;
    if (rounding != WeightRounding::none && !is_norm(weight.role)) made.weight = made.weight->through(rounding);
    if (!table) call.activations = recipe_.activations(weight.dtype);
  }
  return made;
}

// A linear's output is a row of its weight, a row of the embedding belongs to a token.
std::vector<std::string> Judge::where(const SiteWiring& wiring, TraceRows& rows, const Judgement& judgement) const {
  const RowMatrix& value = rows.site(wiring.site);
  const Excess& excess = judgement.excess;
  std::vector<std::string> out = places("outputs", {excess.columns.begin(), excess.columns.end()}, value.cols());
  std::vector<std::int64_t> tokens;
  for (const Eigen::Index row : excess.rows) tokens.push_back(rows.prompt().positions[static_cast<std::size_t>(row)]);
  for (const std::string& remark : places("tokens", tokens, value.rows())) out.push_back(remark);
  const bool row_of_weight = wiring.formula == Formula::linear && std::ssize(excess.columns) < value.cols();
  const bool row_of_table = wiring.formula == Formula::embed && std::ssize(excess.rows) < value.rows();
  if (!row_of_weight && !row_of_table) return out;
  const Weight& weight = weight_of(model_, wiring);
  const auto row = static_cast<std::uint64_t>(row_of_weight ? excess.columns.front()
                                                            : rows.prompt().tokens[static_cast<std::size_t>(tokens.front())]);
  const std::uint64_t bytes = weight.bytes.size() / static_cast<std::uint64_t>(weight.rows);
  out.push_back(fmt::format("row {} of the weight {} is {} bytes at offset {} of {}", row, weight.name, bytes,
                            weight.offset + row * bytes, weight.file));
  return out;
}

Judgement Judge::judge(const SiteWiring& wiring, TraceRows& rows, bool explain_wrong, RowMatrix* bounds) {
  Judgement out;
  out.site = wiring.site;
  out.why_not = obstacle(wiring, rows);
  if (!out.why_not.empty()) return out;
  Attempt made = attempt(wiring, rows);
  if (made.weight) made.call.weight = &*made.weight;
  const RowMatrix& value = rows.site(wiring.site);
  Truth truth;
  try {
    truth = evaluate(made.call, recipe_, team_);
    out.excess = excess_of(value, truth);
  } catch (const std::invalid_argument& error) {
    out.verdict = SiteVerdict::wrong;
    out.excess.ratio = HUGE_VAL;
    out.remarks.push_back(fmt::format("its input {} does not fit: {}",
                                      source_text(wiring.inputs.empty() ? Source{} : wiring.inputs[0]), error.what()));
    if (explain_wrong) add_explanations(out, {model_, recipe_, wiring, rows, made.call, made.stored, team_});
    return out;
  }
  if (out.excess.unbounded == value.size()) {
    out.why_not = "no bound holds for its inputs";
    return out;
  }
  out.token = made.call.positions[static_cast<std::size_t>(out.excess.row)];
  out.value = value(out.excess.row, out.excess.column);
  out.truth = truth.value(out.excess.row, out.excess.column);
  out.bound = truth.bound(out.excess.row, out.excess.column);
  if (bounds != nullptr) *bounds = std::move(truth.bound);
  out.verdict = out.excess.ratio <= 1 ? SiteVerdict::right : SiteVerdict::wrong;
  if (out.verdict == SiteVerdict::right) return out;
  out.remarks = where(wiring, rows, out);
  if (explain_wrong) add_explanations(out, {model_, recipe_, wiring, rows, made.call, made.stored, team_});
  return out;
}

}  // namespace assay
