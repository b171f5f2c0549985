// What values show by themselves, whatever the op: copies, another row's or head's values, a factor, a bias, single numbers of a weight.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "harness/forensics/audit/explain.h"

namespace assay::explanation {
namespace {

bool equals(const Tries& tries, const RowMatrix& value, const RowMatrix& bound) {
  return excess_of(tries.value(), {value, bound}).ratio <= 1;
}

// A copy of its own input: the op itself was left out.
std::string missing(const WrongSite& site, const std::string& other) {
  const auto is_input = [&](const Source& source) { return source.size() == 1 && source[0].site == other; };
  if (std::ranges::none_of(site.wiring.inputs, is_input)) return {};
  switch (site.wiring.formula) {
    case Formula::rms_norm:
      return "the norm is missing: ";
    case Formula::add:
      return "the addition is missing: ";
    default:
      return "it is missing: ";
  }
}

void try_copies(Tries& tries) {
  if (tries.value().isZero(0)) {
    tries.add("zeros everywhere");
    return;
  }
  TraceRows& rows = tries.site().rows;
  for (const std::string& other : rows.prompt().sites) {
    if (other == tries.site().wiring.site) continue;
    const RowMatrix& candidate = rows.site(other);
    if (candidate.cols() != tries.value().cols() || candidate != tries.value()) continue;
    tries.add(fmt::format("{}a copy of {}", missing(tries.site(), other), other));
  }
}

// Row r holds what belongs to row r + by; rows at the end have no counterpart.
void try_moved_rows(Tries& tries, const Truth& truth) {
  const Eigen::Index rows = truth.value.rows();
  for (const Eigen::Index by : {Eigen::Index{-1}, Eigen::Index{1}}) {
    if (rows < 3) return;
    const Eigen::Index first = std::max<Eigen::Index>(-by, 0);
    const Eigen::Index count = rows - 1;
    const RowMatrix value = tries.value().middleRows(first, count);
    const Truth moved{truth.value.middleRows(first + by, count), truth.bound.middleRows(first + by, count)};
    if (excess_of(value, moved).ratio <= 1) tries.add(by < 0 ? "rows one token late" : "rows one token early");
  }
}

// Rows that are wrong hold, to the bit, what the row before them does: left over from it.
void try_left_over(Tries& tries, const Truth& truth) {
  const std::vector<Eigen::Index> rows = excess_of(tries.value(), truth).rows;
  for (const Eigen::Index row : rows) {
    if (row == 0 || tries.value().row(row) != tries.value().row(row - 1)) return;
  }
  tries.add(fmt::format("{} of {} rows hold what the row before them does", rows.size(), truth.value.rows()));
}

// As few digits as do.
void try_factor(Tries& tries, const Truth& truth) {
  const double norm = truth.value.squaredNorm();
  if (norm == 0) return;
  const double estimate = tries.value().cwiseProduct(truth.value).sum() / norm;
  if (!std::isfinite(estimate) || estimate == 0) return;
  for (int digits = 1; digits <= 9; ++digits) {
    const double factor = to_digits(estimate, digits);
    if (std::abs(factor - 1) < kIdentity || !equals(tries, factor * truth.value, std::abs(factor) * truth.bound)) continue;
    tries.add(fmt::format("{} times too large", factor));
    return;
  }
}

// cap tanh(y / cap), by the largest number of the truth.
void try_capped(Tries& tries, const Truth& truth) {
  Eigen::Index row = 0;
  Eigen::Index column = 0;
  const double largest = truth.value.cwiseAbs().maxCoeff(&row, &column);
  const double got = std::abs(tries.value()(row, column));
  if (!(got < largest * (1 - kIdentity)) || !(got > 0)) return;
  double low = got;  // tanh is below 1
  double high = got * 1e3;
  for (int step = 0; step < 60; ++step) {
    const double middle = std::sqrt(low * high);
    (middle * std::tanh(largest / middle) < got ? low : high) = middle;
  }
  for (int digits = 1; digits <= 6; ++digits) {
    const double cap = to_digits(low, digits);
    const RowMatrix capped = cap * (truth.value / cap).array().tanh().matrix();
    if (!equals(tries, capped, truth.bound + 0x1p-21 * capped.cwiseAbs())) continue;
    tries.add(fmt::format("capped at {}, by its tanh", cap));
    return;
  }
}

void try_bias(Tries& tries, const Truth& truth) {
  const RowMatrix error = tries.value() - truth.value;
  if (error.rows() < 2 || !error.allFinite()) return;
  const Eigen::RowVectorXd mean = error.colwise().mean();
  const double size = truth.value.norm() / std::sqrt(static_cast<double>(truth.value.rows()));
  if (mean.norm() < kIdentity * size || !equals(tries, truth.value.rowwise() + mean, truth.bound)) return;
  Eigen::Index at = 0;
  mean.cwiseAbs().maxCoeff(&at);
  tries.add(fmt::format("a bias: each output is off by the same in every row, output {} by {:.6g}", at, mean[at]));
}

// Heads of the truth in another order.
void try_head_order(Tries& tries, const Truth& truth, Eigen::Index d) {
  const Eigen::Index heads = truth.value.cols() / d;
  std::vector<Eigen::Index> order;
  for (Eigen::Index head = 0; head < heads; ++head) {
    const RowMatrix value = tries.value().middleCols(head * d, d);
    Eigen::Index found = 0;
    while (found < heads &&
           excess_of(value, {truth.value.middleCols(found * d, d), truth.bound.middleCols(found * d, d)}).ratio > 1) {
      ++found;
    }
    if (found == heads) return;
    order.push_back(found);
  }
  tries.add(fmt::format("heads in another order: {}", fmt::join(order, ", ")));
}

// Within each head the halves' numbers in turn (0, d/2, 1, d/2 + 1, ...), or these put back into halves.
void try_interleaved(Tries& tries, const Truth& truth, Eigen::Index d) {
  for (const bool apart : {false, true}) {
    Truth other = truth;
    for (Eigen::Index column = 0; column < truth.value.cols(); ++column) {
      const Eigen::Index in = column % d;
      const Eigen::Index from = column - in + (apart ? in / (d / 2) + in % (d / 2) * 2 : in % 2 * (d / 2) + in / 2);
      other.value.col(column) = truth.value.col(from);
      other.bound.col(column) = truth.bound.col(from);
    }
    if (!equals(tries, other.value, other.bound)) continue;
    tries.add(apart ? "numbers of each head from adjacent pairs into halves"
                    : "numbers of each head from halves into adjacent pairs");
  }
}

// The numbers of a norm's weight that the values ask for, where all rows and heads ask for the same.
void try_norm_weight(Tries& tries) {
  const SiteCall& call = tries.site().call;
  const Eigen::Index n = call.weight->cols();
  const RowMatrix ones = RowMatrix::Ones(1, n);
  const DecodedWeight no_weight(ones);
  const Truth normalised = tries.truth_with([&](SiteCall& changed) { changed.weight = &no_weight; });
  if (normalised.value.rows() * call.heads < 2) return;
  std::set<Eigen::Index> wrong;
  for (const Eigen::Index column : excess_of(tries.value(), tries.truth_with([](SiteCall&) {})).columns) wrong.insert(column % n);
  const RowMatrix own = call.weight->rows(0, 1).value;
  RowMatrix weight = own;
  for (const Eigen::Index i : wrong) {
    double product = 0;
    double square = 0;
    for (Eigen::Index column = i; column < normalised.value.cols(); column += n) {
      product += tries.value().col(column).dot(normalised.value.col(column));
      square += normalised.value.col(column).squaredNorm();
    }
    weight(0, i) = square > 0 ? product / square : 0;
  }
  const DecodedWeight asked(weight);
  const Truth truth = tries.truth_with([&](SiteCall& changed) { changed.weight = &asked; });
  if (excess_of(tries.value(), truth).ratio > 1 || (weight - own).norm() < kIdentity * own.norm()) return;
  const Eigen::Index first = *wrong.begin();
  tries.add(fmt::format("{} of {} numbers of the weight: number {} is {:.6g}, the values ask for {:.6g}", wrong.size(), n, first,
                        own(0, first), weight(0, first)));
}

}  // namespace

void try_values(Tries& tries, const Truth& truth) {
  if (truth.value.rows() != tries.value().rows() || truth.value.cols() != tries.value().cols()) return;
  try_copies(tries);
  if (!tries.found().empty()) return;
  const WrongSite& site = tries.site();
  const Eigen::Index d = site.model.config().head_dim;
  const bool in_heads = site.wiring.formula != Formula::embed && truth.value.cols() > d && truth.value.cols() % d == 0;
  try_moved_rows(tries, truth);
  try_left_over(tries, truth);
  try_factor(tries, truth);
  if (site.wiring.formula == Formula::linear) try_capped(tries, truth);
  if (in_heads) try_head_order(tries, truth, d);
  if (truth.value.cols() % d == 0) try_interleaved(tries, truth, d);
  if (site.wiring.formula == Formula::rms_norm) try_norm_weight(tries);
  if (tries.found().empty() && site.weight != nullptr) try_weight_numbers(tries, truth);
  if (tries.found().empty()) try_bias(tries, truth);
}

}  // namespace assay::explanation
