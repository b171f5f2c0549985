// Other formulas than the op's, each in the place where kernels have it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "harness/forensics/explain/formula.h"
#include "harness/forensics/explain/hypothesis.h"
#include "harness/forensics/middle.h"

namespace assay::why {
namespace {

// What is rounded on the way comes to one of these, as the kernel's own roundings before it are.
constexpr double kNudges[] = {1, 1 - 0x1p-21, 1 + 0x1p-21};

void set_element(const Formula& formula, Row& row, std::size_t i, double& value, double& bound) {
  const double truth = value;
  value = formula.of(row, i);
  // As exact as the op's own, in proportion.
  const double scaled = truth == 0 ? 0 : bound * std::fabs(value / truth);
  double apart = 0;
  for (const double nudge : formula.rounds ? std::span<const double>(kNudges) : std::span<const double>()) {
    row.nudge = nudge;
    apart = std::max(apart, std::fabs(formula.of(row, i) - value));
  }
  row.nudge = 1;
  bound = std::max(scaled, 0x1p-20 * std::fabs(value)) + apart + 0x1p-140;
}

std::optional<Prediction> apply(const Formula& formula, const IndexMap* summed, const Evidence& one) {
  const auto specs = one.inputs();
  const std::size_t n = static_cast<std::size_t>(specs[0]->shape.back());
  const std::size_t count = static_cast<std::size_t>(specs[0]->elements());
  const std::size_t others = specs.size() > 1 ? static_cast<std::size_t>(specs[1]->elements()) : 0;
  if (n == 0) return std::nullopt;
  if (summed != nullptr && !sources({static_cast<std::int64_t>(n)}, 0, *summed)) return std::nullopt;
  Prediction said = truth_of(one);
  reference::Expected& out = said.outputs.front();
  std::optional<Row> before;
  for (std::size_t at = 0; at < count; at += n) {
    std::span<const float> beside;
    if (others > 0) beside = {one.call->inputs[1].as<float>() + (others == n ? 0 : at), n};
    Row row({one.call->inputs[0].as<float>() + at, n}, beside, one.params.has("eps") ? one.params.real("eps") : 0,
            before ? &*before : nullptr, summed);
    for (std::size_t i = 0; i < n; ++i) {
      if (out.bits_only.empty() || out.bits_only[at + i] == 0) set_element(formula, row, i, out.value[at + i], out.bound[at + i]);
    }
    before = row;
  }
  return said;
}

bool concerns(const Formula& formula, const Op& op) {
  return op.family->name == std::string_view(formula.family) || op.name == std::string_view(formula.family);
}

// The middle one of the numbers that differences are multiplied by before their exponentials are taken, which ratios of results tell.
std::optional<double> sharpness_of(const Evidence& one) {
  constexpr std::size_t kFewest = 8;
  const Array& x = one.call->inputs.front();
  const Array& y = one.call->outputs.front();
  const std::int64_t n = x.shape.back();
  std::vector<double> ratios;
  for (std::int64_t row = 0; row < x.elements(); row += n) {
    std::int64_t most = row;
    for (std::int64_t i = row; i < row + n; ++i) most = x.number(i) > x.number(most) ? i : most;
    for (std::int64_t i = row; i < row + n; ++i) {
      const double apart = x.number(i) - x.number(most);
      const double ratio = std::log(y.number(i) / y.number(most)) / apart;
      if (apart > -10 && apart < -0.5 && std::isfinite(ratio)) ratios.push_back(ratio);
    }
  }
  if (ratios.size() < kFewest) return std::nullopt;
  const double middle = middle_of(std::move(ratios));
  const double digit = std::pow(10.0, std::floor(std::log10(std::fabs(middle))) - 2);
  const double three_digits = std::round(middle / digit) * digit;
  return std::fabs(three_digits - 1) < 1e-3 || !(three_digits > 0) ? std::nullopt : std::optional(three_digits);
}

// A softmax of the row times a number.
Prediction sharper(const Evidence& one, double times) {
  Prediction said = truth_of(one);
  reference::Expected& out = said.outputs.front();
  const Array& x = one.call->inputs.front();
  const std::int64_t n = x.shape.back();
  for (std::int64_t row = 0; row < x.elements() && n > 0; row += n) {
    double most = -INFINITY;
    double sum = 0;
    for (std::int64_t i = row; i < row + n; ++i) most = std::max(most, x.number(i));
    for (std::int64_t i = row; i < row + n; ++i) sum += std::exp(times * (x.number(i) - most));
    for (std::int64_t i = row; i < row + n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double apart = times * (x.number(i) - most);
      out.value[at] = std::exp(apart) / sum;
      out.bound[at] = (0x1p-20 + 0x1p-22 * std::fabs(apart)) * out.value[at] + 0x1p-140;
    }
  }
  return said;
}

void add_sharpness(const Op& op, Cases cases, Hypotheses& all) {
  if (op.name != std::string_view("softmax")) return;
  const auto failing =
      std::ranges::find_if(cases, [](const Evidence& one) { return one.fails() && sharpness_of(one).has_value(); });
  if (failing == cases.end()) return;
  const double times = *sharpness_of(*failing);
  all.push_back({"times-before", "factor", fmt::format("the row is multiplied by {:.3g} first", times), Law::equation, 3,
                 [times](const Evidence& one) { return std::optional(sharper(one, times)); }});
}

}  // namespace

void add_formulas(const Op& op, Cases cases, Hypotheses& all) {
  add_sharpness(op, cases, all);
  for (const auto table : {row_formulas(), element_formulas()}) {
    for (const Formula& formula : table) {
      if (!concerns(formula, op)) continue;
      all.push_back({formula.name, formula.kind, formula.words, Law::equation, 1,
                     [&formula](const Evidence& one) { return apply(formula, nullptr, one); }});
    }
  }
  for (const Formula& formula : summed_formulas()) {
    if (!concerns(formula, op)) continue;
    for (const IndexMap& map : index_maps()) {
      all.push_back({fmt::format("{}:{}", formula.name, map.name), std::string(map.kind),
                     fmt::format("{}: {}", formula.words, map.words), Law::equation, map.cost,
                     [&formula, &map](const Evidence& one) { return apply(formula, &map, one); }});
    }
  }
}

}  // namespace assay::why
