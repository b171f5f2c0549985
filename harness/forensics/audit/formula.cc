#include "harness/forensics/audit/formula.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "harness/forensics/audit/formula_parts.h"
#include "reference/convert.h"
#include "reference/decode.h"

namespace assay {

using formula::growth;
using formula::kOwn;
using formula::store;
using formula::sum_growth;

namespace formula {

void store(Truth& truth, const Recipe& recipe) {
  truth.bound =
      truth.bound.array() + recipe.stored.u * (truth.value.array().abs() + truth.bound.array()) + recipe.stored.tiny + kTiny;
}

}  // namespace formula

namespace {

void require(bool fits, const std::string& otherwise) {
  if (!fits) throw std::invalid_argument(otherwise);
}

std::string widths(const SiteCall& call) {
  return std::to_string(call.inputs[0].cols()) + " and " + std::to_string(call.inputs[1].cols()) + " numbers a row";
}

// How many numbers a head has.
Eigen::Index head_width(const SiteCall& call) {
  const Eigen::Index width = call.inputs[0].cols();
  require(width > 0 && width % call.heads == 0,
          std::to_string(width) + " numbers a row for " + std::to_string(call.heads) + " heads");
  return width / call.heads;
}

double nearest_bf16(
    double x) {  // ties to even, by the f32's upper half; rounding to f32 first changes nothing, it has 2 * 8 + 2 bits
  const auto wide = static_cast<float>(x);
  if (!std::isfinite(wide)) return x;
  const auto bits = std::bit_cast<std::uint32_t>(wide);
  return std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000);
}

double nearest_f16(double x) {
  return reference::Half::decode(reference::narrow<reference::Half>(static_cast<float>(x)));
}

// Each term and each sum rounded, one after the other: no order is free, and so no error.
template <double (*rounded)(double)>
RowMatrix summed_in_turn(const RowMatrix& x, const RowMatrix& w) {
  RowMatrix sums = RowMatrix::Zero(x.rows(), w.rows());
  const Eigen::MatrixXd columns = w;
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    for (Eigen::Index k = 0; k < x.cols(); ++k) {
      for (Eigen::Index i = 0; i < w.rows(); ++i) sums(row, i) = rounded(sums(row, i) + rounded(x(row, k) * columns(i, k)));
    }
  }
  return sums;
}

Truth linear(const SiteCall& call, const Recipe& recipe, Team& team) {
  const DecodedWeight& w = *call.weight;
  RowMatrix x = call.inputs[0];
  require(x.cols() == w.cols(), "the weight has " + std::to_string(w.cols()) + " columns");
  const bool as_one = call.activations == ActivationRounding::u8_tensor;
  const Eigen::Index count = as_one ? x.size() : x.cols();
  for (Eigen::Index first = 0; count > 0 && first < x.size(); first += count)
    std::ranges::copy(round_activations(call.activations, {x.data() + first, static_cast<std::size_t>(count)}), x.data() + first);
  const RowMatrix magnitudes = x.cwiseAbs();
  // Blocks: integers are exact, then two terms a block meet one rounding each, and the products of scales (docs/numerics.md).
  const double n = w.blocks() > 0 ? 2.0 * static_cast<double>(w.blocks()) + 3 : static_cast<double>(x.cols()) + 1;
  const double own = growth(static_cast<double>(x.cols()) + 1, kOwn);
  Truth truth{RowMatrix(x.rows(), w.rows()), RowMatrix(x.rows(), w.rows())};
  parallel_blocks(team, w.rows(), kDecodedRows, [&](std::int64_t begin, std::int64_t end) {
    const WeightRows rows = w.rows(begin, end - begin);
    if (recipe.sums != ActivationRounding::none) {
      truth.value.middleCols(begin, end - begin) = recipe.sums == ActivationRounding::bf16
                                                       ? summed_in_turn<nearest_bf16>(x, rows.value)
                                                       : summed_in_turn<nearest_f16>(x, rows.value);
      truth.bound.middleCols(begin, end - begin).setZero();
      return;
    }
    truth.value.middleCols(begin, end - begin).noalias() = x * rows.value.transpose();
    truth.bound.middleCols(begin, end - begin) = (growth(n, recipe.u) + own) * (magnitudes * rows.split.transpose());
  });
  store(truth, recipe);
  return truth;
}

// One over the root of the mean square of `in`.
double reciprocal_root(const Eigen::Ref<const Eigen::RowVectorXd>& in, const SiteCall& call) {
  const double mean = in.squaredNorm() / static_cast<double>(in.size());
  return 1 / (call.eps_outside ? std::sqrt(mean) + call.eps : std::sqrt(mean + call.eps));
}

Truth rms_norm(const SiteCall& call, const Recipe& recipe) {
  const RowMatrix& x = call.inputs[0];
  const Eigen::Index n = head_width(call);
  require(n == call.weight->cols(),
          "the weight has " + std::to_string(call.weight->cols()) + " numbers, a row " + std::to_string(n));
  const Eigen::RowVectorXd weight = call.weight->rows(0, 1).value;
  Truth truth{RowMatrix(x.rows(), x.cols()), {}};
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    for (Eigen::Index head = 0; head < call.heads; ++head) {
      Eigen::RowVectorXd in = x.row(row).segment(head * n, n);
      if (call.centred) in.array() -= in.mean();
      const double r = call.heads_together ? reciprocal_root(x.row(row), call) : reciprocal_root(in, call);
      truth.value.row(row).segment(head * n, n) = in.array() * r * weight.array();
    }
  }
  // Half of the mean's error, its division, the root, the reciprocal, two products. A narrow engine keeps the normalised value too.
  const double relative = sum_growth(static_cast<double>(n) / 2 + 8, recipe) + recipe.inner.u * (1 + recipe.stored.u);
  truth.bound = relative * truth.value.cwiseAbs();
  const Eigen::RowVectorXd denormal = (recipe.inner.tiny * weight.cwiseAbs()).replicate(1, call.heads);
  truth.bound.rowwise() += denormal;
  store(truth, recipe);
  return truth;
}

// A number that is off by at most `by`, and how far: rounded to a narrow type, it may fall to either side of a tie.
std::pair<double, double> kept(ActivationRounding narrow, double x, double by) {
  if (narrow == ActivationRounding::none) return {x, by};
  const auto through = [&](double number) { return round_activations(narrow, {&number, 1}).front(); };
  return {through(x), std::max(through(x + by) - through(x), through(x) - through(x - by))};
}

Truth rope(const SiteCall& call, const Recipe& recipe) {
  const RowMatrix& x = call.inputs[0];
  const Eigen::Index width = head_width(call);
  const Eigen::Index d = width * call.rotated_quarters / 4;
  require(d % 2 == 0, "heads of " + std::to_string(width));
  Truth truth{x, RowMatrix::Zero(x.rows(), x.cols())};
  // Sine, product, sum; narrow: cast, product.
  const double roundings = sum_growth(4, recipe) + 2 * recipe.inner.u * (1 + recipe.inner.u);
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    const double position = call.turn * static_cast<double>(call.positions[static_cast<std::size_t>(row)] + call.shift);
    for (Eigen::Index i = 0; i < d / 2; ++i) {
      const double part = 2.0 * static_cast<double>(i) / static_cast<double>(d);
      const double relative = recipe.angle_first + static_cast<double>(i) * recipe.angle_per_pair +
                              part * std::abs(std::log(call.theta)) * recipe.angle_per_log + 0x1p-50;
      const auto [frequency, apart] = kept(call.frequencies, std::pow(call.theta, -part), relative * std::pow(call.theta, -part));
      const auto [angle, drift] =
          kept(call.angles, position * frequency, std::abs(position) * (apart + relative * std::abs(frequency)));
      const auto [c, c_drift] = kept(call.sines, std::cos(angle), drift);
      const auto [s, s_drift] = kept(call.sines, std::sin(angle), drift);
      for (Eigen::Index head = 0; head < call.heads; ++head) {
        const Eigen::Index a = head * width + (call.adjacent ? 2 * i : i);
        const Eigen::Index b = head * width + (call.adjacent ? 2 * i + 1 : i + d / 2);
        const double x0 = x(row, a);
        const double x1 = x(row, b);
        truth.value(row, a) = x0 * c - x1 * s;
        truth.value(row, b) = x1 * c + x0 * s;
        const double moved =
            (std::max(c_drift, s_drift) + recipe.inner.tiny) * (std::abs(x0) + std::abs(x1)) + 2 * recipe.inner.tiny;
        truth.bound(row, a) = roundings * (std::abs(x0 * c) + std::abs(x1 * s)) + moved;
        truth.bound(row, b) = roundings * (std::abs(x1 * c) + std::abs(x0 * s)) + moved;
      }
    }
  }
  store(truth, recipe);
  return truth;
}

Truth add(const SiteCall& call, const Recipe& recipe) {
  require(call.inputs[0].cols() == call.inputs[1].cols(), widths(call));
  Truth truth{call.factors[0] * call.inputs[0] + call.factors[1] * call.inputs[1], {}};
  truth.bound = (recipe.u + kOwn) * truth.value.cwiseAbs();
  for (const std::size_t one : {0U, 1U}) {  // the factor's rounding, and its product's
    if (std::abs(call.factors[one]) != 1) truth.bound += 2 * recipe.u * std::abs(call.factors[one]) * call.inputs[one].cwiseAbs();
  }
  store(truth, recipe);
  return truth;
}

Truth embed(const SiteCall& call, const Recipe& recipe) {
  Truth truth{RowMatrix(std::ssize(call.tokens), call.weight->cols()), {}};
  for (std::size_t row = 0; row < call.tokens.size(); ++row)
    truth.value.row(static_cast<Eigen::Index>(row)) = call.weight->rows(call.tokens[row], 1).value;
  // A number is copied; a block's value may be made by two products.
  truth.bound = (call.weight->blocks() > 0 ? 2 * recipe.u : 0.0) * truth.value.cwiseAbs();
  store(truth, recipe);
  return truth;
}

}  // namespace

namespace {

Truth evaluate_as(const SiteCall& call, const Recipe& recipe, Team& team) {
  switch (call.formula) {
    case Formula::linear:
      return linear(call, recipe, team);
    case Formula::rms_norm:
      return rms_norm(call, recipe);
    case Formula::rope:
      return rope(call, recipe);
    case Formula::attention:
      (void)head_width(call);
      return formula::attention(call, recipe, team);
    case Formula::swiglu:
      require(call.inputs[0].cols() == call.inputs[1].cols(), widths(call));
      return formula::gated(call, recipe);
    case Formula::add:
      return add(call, recipe);
    case Formula::embed:
      return embed(call, recipe);
    default:
      throw std::invalid_argument(std::string(formula_name(call.formula)) + " has no formula");
  }
}

}  // namespace

// Of a recipe that is narrow for some formulas alone, what it is for this one.
Truth evaluate(const SiteCall& call, const Recipe& recipe, Team& team) {
  if (recipe.narrow.empty()) return evaluate_as(call, recipe, team);
  Recipe here = recipe;
  here.narrow.clear();
  if (std::ranges::find(recipe.narrow, call.formula) == recipe.narrow.end()) {
    here.stored = here.inner = kKeptWide;
    return evaluate_as(call, here, team);
  }
  SiteCall rounded = call;
  for (RowMatrix& input : rounded.inputs) input = formula::rounded(input, recipe.operands);
  return evaluate_as(rounded, here, team);
}

Excess excess_of(const RowMatrix& value, const Truth& truth) {
  Excess excess;
  if (value.rows() != truth.value.rows() || value.cols() != truth.value.cols()) throw std::invalid_argument("shapes differ");
  std::vector<bool> columns(static_cast<std::size_t>(value.cols()));
  for (Eigen::Index row = 0; row < value.rows(); ++row) {
    bool row_fails = false;
    for (Eigen::Index column = 0; column < value.cols(); ++column) {
      const double error = std::abs(value(row, column) - truth.value(row, column));
      const double bound = truth.bound(row, column);
      if (!std::isfinite(bound)) {
        ++excess.unbounded;
        continue;
      }
      const double ratio = error == 0                                           ? 0
                           : !(error < std::numeric_limits<double>::infinity()) ? std::numeric_limits<double>::infinity()
                                                                                : error / bound;
      if (ratio > excess.ratio) {
        excess.ratio = ratio;
        excess.row = row;
        excess.column = column;
      }
      if (ratio <= 1) continue;
      row_fails = true;
      columns[static_cast<std::size_t>(column)] = true;
    }
    if (row_fails) excess.rows.push_back(row);
  }
  for (std::size_t column = 0; column < columns.size(); ++column) {
    if (columns[column]) excess.columns.push_back(static_cast<Eigen::Index>(column));
  }
  return excess;
}

}  // namespace assay
