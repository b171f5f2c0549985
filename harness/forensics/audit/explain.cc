#include "harness/forensics/audit/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/forensics/sites/site_name.h"

namespace assay {
namespace explanation {
namespace {

// Formulas fed by another's site in a way that has a name.
struct Misfed {
  Formula formula;
  Formula by;
  const char* name;
};
constexpr Misfed kMisfed[] = {{Formula::rms_norm, Formula::rope, "norm after rope: "},
                              {Formula::rope, Formula::linear, "norm left out before rope: "},
                              {Formula::attention, Formula::rms_norm, "not the rotated ones: "}};

std::string misfed(const WrongSite& site, const std::string& by) {
  const auto other = wiring_of_site(site.model.config(), by);
  const auto* const found = std::ranges::find_if(
      kMisfed, [&](const Misfed& one) { return other && one.formula == site.wiring.formula && one.by == other->formula; });
  return found == std::end(kMisfed) ? "" : found->name;
}

// Sites of the same layer, and what the layer itself is fed by.
std::vector<std::string> near(const WrongSite& site) {
  const std::vector<std::string>& all = site.rows.prompt().sites;
  const int layer = static_cast<int>(site.wiring.layer);
  const std::string prefix = layer < 0 ? "" : layer_site(layer, "");
  const std::string input = layer < 0 ? "" : stream_before(site.model.config(), layer);
  std::vector<std::string> out;
  std::ranges::copy_if(all, std::back_inserter(out), [&](const std::string& other) {
    return other != site.wiring.site && other != kLogitsSite && (other.starts_with(prefix) || other == input);
  });
  return out;
}

bool feeds(const Source& source, const std::string& site) {
  return source.size() == 1 && source[0].site == site && source[0].column == 0;
}

// A few of many; none where an output may depend on other rows than its own.
std::vector<Eigen::Index> rows_to_try(const SiteCall& call, Eigen::Index rows) {
  constexpr Eigen::Index kFirst = 4;
  constexpr Eigen::Index kTried = 16;
  std::vector<Eigen::Index> some;
  if (rows <= 4 * kTried || call.activations == ActivationRounding::u8_tensor) return some;
  for (Eigen::Index i = 0; i < kFirst; ++i) some.push_back(i);
  for (Eigen::Index i = kFirst; i < kTried; ++i) some.push_back((rows - 1) * (i - kFirst + 1) / (kTried - kFirst));
  return some;
}

}  // namespace

SiteCall call_of_rows(SiteCall call, std::span<const Eigen::Index> rows, Eigen::Index all) {
  const std::size_t by_row =
      call.formula == Formula::attention ? 1 : call.inputs.size();  // its keys and values are those of all rows
  for (RowMatrix& one : std::span(call.inputs).first(by_row)) {
    if (one.rows() != all) throw std::invalid_argument("inputs of other rows");
    one = one(rows, Eigen::all).eval();
  }
  for (std::vector<std::int32_t>* const of_rows : {&call.positions, &call.tokens}) {
    if (of_rows->empty()) continue;
    if (std::ssize(*of_rows) != all) throw std::invalid_argument("positions or tokens of other rows");
    std::vector<std::int32_t> some;
    for (const Eigen::Index row : rows) some.push_back((*of_rows)[static_cast<std::size_t>(row)]);
    *of_rows = std::move(some);
  }
  return call;
}

double Tries::left(const SiteCall& call, const Recipe& recipe, double enough) const {
  const std::vector<Eigen::Index> rows = rows_to_try(call, value_.rows());
  const double some = rows.empty() ? 0 : left_of(rows, call, recipe);
  return some > enough ? some : left_of({}, call, recipe);
}

double Tries::left_of(const std::vector<Eigen::Index>& rows, const SiteCall& call, const Recipe& recipe) const {
  constexpr double kNothing = std::numeric_limits<double>::infinity();
  try {
    const Truth truth = evaluate(rows.empty() ? call : call_of_rows(call, rows, value_.rows()), recipe, site_.team);
    if (truth.value.cols() != value_.cols()) return kNothing;
    const Excess excess = excess_of(rows.empty() ? value_ : RowMatrix(value_(rows, Eigen::all)), truth);
    return !rows.empty() || excess.unbounded == 0 || excess.unbounded <= unbounded() ? excess.ratio : kNothing;
  } catch (const std::invalid_argument&) {
    return kNothing;
  }
}

std::int64_t Tries::unbounded() const {
  return excess_of(value_, evaluate(site_.call, site_.recipe, site_.team)).unbounded;
}

bool Tries::note(const std::string& what, const SiteCall& call, const Recipe& recipe) {
  const double left = this->left(call, recipe, std::max(out_.left, 1.0));
  if (left <= 1) {
    add(what);
    if (!changed_) changed_ = call;
  }
  if (left < out_.left) {
    out_.left = left;
    out_.nearest = what;
  }
  return left <= 1;
}

void try_inputs(Tries& tries) {
  const WrongSite& site = tries.site();
  for (std::size_t i = 0; i < site.call.inputs.size(); ++i) {
    const Source& own = site.wiring.inputs[i];
    for (const std::string& other : near(site)) {
      const RowMatrix& candidate = site.rows.site(other);
      if (feeds(own, other) || candidate.cols() != site.call.inputs[i].cols()) continue;
      tries.attempt(fmt::format("{}fed by {}, not by {}", misfed(site, other), other, source_text(own)),
                    [&](SiteCall& call) { call.inputs[i] = candidate; });
    }
  }
}

void try_weights(Tries& tries) {
  const WrongSite& site = tries.site();
  if (site.weight == nullptr) return;
  const Weight& own = *site.weight;
  for (const Weight& other : site.model.weights().all()) {
    if (&other == &own || other.rows != own.rows || other.cols != own.cols || is_norm(other.role) != is_norm(own.role)) continue;
    const DecodedWeight decoded(other);
    tries.attempt(fmt::format("the weight {} in the place of {}", other.name, own.name), [&](SiteCall& call) {
      call.weight = &decoded;
      call.activations = site.recipe.activations(other.dtype);
    });
  }
  const DecodedWeight& weight = *site.call.weight;
  const auto attempt_with = [&](const DecodedWeight& changed, const std::string& what) {
    tries.attempt(what, [&](SiteCall& call) { call.weight = &changed; });
  };
  for (const auto& [rounding, type] : {std::pair(WeightRounding::f16, "f16"), std::pair(WeightRounding::bf16, "bf16")})
    attempt_with(weight.through(rounding), fmt::format("the weight rounded to {}", type));
  if (site.wiring.formula == Formula::rms_norm) {
    const RowMatrix ones = RowMatrix::Ones(own.rows, own.cols);
    attempt_with(DecodedWeight(ones), "no weight");
    attempt_with(DecodedWeight(RowMatrix(weight.rows(0, own.rows).value.array() + 1)), "1 + weight");
  } else if (site.wiring.formula == Formula::linear && own.rows == own.cols) {
    attempt_with(weight.transposed(), "the weight transposed");
  }
}

}  // namespace explanation

Explained explain(const WrongSite& site) {
  explanation::Tries tries(site);
  explanation::try_settings(tries);
  explanation::try_inputs(tries);
  explanation::try_weights(tries);
  if (tries.found().empty()) explanation::try_estimates(tries);
  if (!tries.found().empty()) return tries.explained();
  try {
    const Truth truth = evaluate(site.call, site.recipe, site.team);
    if (truth.value.rows() != tries.value().rows() || truth.value.cols() != tries.value().cols()) return tries.explained();
    explanation::try_values(tries, truth);
    if (tries.found().empty() && site.wiring.formula == Formula::swiglu) explanation::try_other_gate(tries, truth);
  } catch (const std::invalid_argument&) {
    return tries.explained();  // shapes that do not fit
  }
  return tries.explained();
}

}  // namespace assay
