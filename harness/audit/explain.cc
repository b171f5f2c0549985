// Known ways to be wrong, tried one by one: a change of the definition with which the site's values are right explains them.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/audit/judge.h"

namespace assay {
namespace {

constexpr std::array kEps = {0.0, 1e-12, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2};
constexpr std::array kThetas = {1e4, 1e5, 5e5, 1e6, 2e6, 5e6, 1e7, 1e8};
constexpr std::array kRoundings = {ActivationRounding::none, ActivationRounding::f16,       ActivationRounding::bf16,
                                   ActivationRounding::q8_0, ActivationRounding::q8_0_by_d, ActivationRounding::q8_k};

}  // namespace

void Judge::explain(const SiteWiring& wiring, TraceRows& rows, Judgement& out) const {
  Attempt base = attempt(wiring, rows);
  if (base.weight) base.call.weight = &*base.weight;
  try_settings(wiring, rows, base, out);
  try_inputs(wiring, rows, base, out);
  if (base.weight) try_weights(wiring, rows, base, out);
}

void Judge::try_settings(const SiteWiring& wiring, TraceRows& rows, const Attempt& base, Judgement& out) const {
  const RowMatrix& value = rows.site(wiring.site);
  const auto attempt_with = [&](const std::string& what, const auto& change) {
    SiteCall call = base.call;
    change(call);
    if (fits(call, value)) out.explanations.push_back(what);
  };
  switch (wiring.kind) {
    case StepKind::linear:
      for (const ActivationRounding rounding : kRoundings) {
        if (rounding == base.call.activations || base.call.inputs[0].cols() % 256 != 0) continue;
        attempt_with(fmt::format("activations {}", rounding_name(rounding)),
                     [&](SiteCall& call) { call.activations = rounding; });
      }
      break;
    case StepKind::rms_norm:
      for (const double eps : kEps) {
        attempt_with(fmt::format("eps {}", eps), [&](SiteCall& call) { call.eps = eps; });
      }
      attempt_with("eps added to the root, not under it", [](SiteCall& call) { call.eps_outside = true; });
      attempt_with("eps added to the sum, not to the mean",
                   [](SiteCall& call) { call.eps /= static_cast<double>(call.inputs[0].cols() / call.heads); });
      break;
    case StepKind::rope:
      for (const double theta : kThetas) {
        attempt_with(fmt::format("theta {}", theta), [&](SiteCall& call) { call.theta = theta; });
      }
      attempt_with("adjacent pairs", [](SiteCall& call) { call.adjacent = true; });
      for (const std::int64_t shift : {-1, 1}) {
        attempt_with(fmt::format("positions moved by {}", shift), [&](SiteCall& call) { call.shift = shift; });
      }
      attempt_with("not rotated", [](SiteCall& call) { std::ranges::fill(call.positions, 0); });
      break;
    case StepKind::attention:
      attempt_with("kv head = h % n_kv", [](SiteCall& call) { call.kv_modulo = true; });
      attempt_with("a mask that hides the token itself", [](SiteCall& call) { call.mask_ahead = -1; });
      attempt_with("a mask that shows the next token", [](SiteCall& call) { call.mask_ahead = 1; });
      attempt_with("no mask", [](SiteCall& call) { call.mask_ahead = std::int64_t{1} << 40; });
      break;
    case StepKind::swiglu:
      attempt_with("gate and up exchanged", [](SiteCall& call) { std::swap(call.inputs[0], call.inputs[1]); });
      break;
    default:
      break;
  }
}

// Sites of the same layer, the layer's input among them, in the place of each input.
void Judge::try_inputs(const SiteWiring& wiring, TraceRows& rows, const Attempt& base, Judgement& out) const {
  const RowMatrix& value = rows.site(wiring.site);
  const std::string layer = wiring.layer < 0 ? "" : wiring.site.substr(0, wiring.site.rfind('.'));
  for (std::size_t i = 0; i < wiring.inputs.size(); ++i) {
    for (const std::string& other : rows.prompt().sites) {
      const bool near = other.starts_with(layer) || wiring.layer < 0;
      if (!near || other == wiring.site || other == kLogitsSite) continue;
      if (wiring.inputs[i].size() == 1 && wiring.inputs[i][0].site == other && wiring.inputs[i][0].column == 0) continue;
      const RowMatrix& candidate = rows.site(other);
      if (candidate.cols() != base.call.inputs[i].cols()) continue;
      SiteCall call = base.call;
      call.inputs[i] = candidate;
      if (fits(call, value))
        out.explanations.push_back(fmt::format("fed by {}, not by {}", other, source_text(wiring.inputs[i])));
    }
  }
}

void Judge::try_weights(const SiteWiring& wiring, TraceRows& rows, const Attempt& base, Judgement& out) const {
  const RowMatrix& value = rows.site(wiring.site);
  const Weight& own = weight_of(wiring);
  const auto attempt_with = [&](const DecodedWeight& weight, const std::string& what) {
    SiteCall call = base.call;
    call.weight = &weight;
    if (fits(call, value)) out.explanations.push_back(what);
  };
  for (const Weight& other : model_.weights().all()) {
    if (&other == &own || other.rows != own.rows || other.cols != own.cols || is_norm(other.role) != is_norm(own.role)) continue;
    DecodedWeight decoded = decode_weight(other);
    SiteCall call = base.call;
    call.weight = &decoded;
    call.activations = recipe_.activations(other.dtype);
    if (fits(call, value)) out.explanations.push_back(fmt::format("the weight {}", other.name));
  }
  if (wiring.kind == StepKind::rms_norm) {
    const RowMatrix ones = RowMatrix::Ones(own.rows, own.cols);
    attempt_with({ones, ones, 0}, "no weight");
    const RowMatrix plus = base.weight->value.array() + 1;
    attempt_with({plus, plus.cwiseAbs(), 0}, "1 + weight");
  } else if (wiring.kind == StepKind::linear && own.rows == own.cols) {
    attempt_with({base.weight->value.transpose(), base.weight->split.transpose(), base.weight->blocks}, "the weight transposed");
  }
}

}  // namespace assay
