// Numbers that the values themselves ask for: theta and positions of rope, eps, a factor of a summand, what a gate is multiplied or cut by.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "harness/forensics/audit/explain.h"
#include "harness/forensics/middle.h"

namespace assay::explanation {
namespace {

using Index = Eigen::Index;

constexpr int kDigits = 6;

// `factor`: one that changes nothing where it is 1.
template <class Set>
bool try_digits(Tries& tries, double estimate, int digits, const char* format, const Set& set, bool factor = true) {
  if (!std::isfinite(estimate) || estimate <= 0) return false;
  const double number = to_digits(estimate, digits);
  if (factor && std::abs(number - 1) < kIdentity) return false;
  return tries.attempt(fmt::format(fmt::runtime(format), number), [&](SiteCall& call) { set(call, number); });
}

// The coarsest rounding of an estimate with which the values are right.
template <class Set>
bool try_rounded(Tries& tries, double estimate, const char* format, const Set& set, bool factor = true) {
  for (int digits = 1; digits <= kDigits; ++digits) {
    if (try_digits(tries, estimate, digits, format, set, factor)) return true;
  }
  return false;
}

// What the pair (i, i + d/2) is turned by in a row, from -pi to pi: of the head in which it is largest.
double turned_by(const Tries& tries, Index row, Index pair) {
  const SiteCall& call = tries.site().call;
  const RowMatrix& x = call.inputs[0];
  const Index d = x.cols() / call.heads;
  double largest = 0;
  double angle = 0;
  for (Index head = 0; head < call.heads; ++head) {
    const Index a = head * d + pair;
    const Index b = a + d / 2;
    const double size = x(row, a) * x(row, a) + x(row, b) * x(row, b);
    if (size <= largest) continue;
    largest = size;
    angle = std::atan2(x(row, a) * tries.value()(row, b) - x(row, b) * tries.value()(row, a),
                       x(row, a) * tries.value()(row, a) + x(row, b) * tries.value()(row, b));
  }
  return angle;
}

// Pair i of a row at a position has the angle position * theta^(-2i/d). Pair 1 at a small position first; then one that turns by less than `kTurn`
// in the last row, whose angle is known far better.
double estimated_theta(const Tries& tries) {
  constexpr double kTurn = 1.5;
  const SiteCall& call = tries.site().call;
  const Index d = call.inputs[0].cols() / call.heads;
  const auto row = static_cast<Index>(std::ranges::find_if(call.positions, [](std::int32_t position) { return position > 0; }) -
                                      call.positions.begin());
  if (row == call.inputs[0].rows() || call.positions[static_cast<std::size_t>(row)] > 3 || d < 4) return 0;
  const auto from = [&](Index at, Index pair) {
    const double angle = turned_by(tries, at, pair);
    return angle <= 0 ? 0
                      : std::pow(call.positions[static_cast<std::size_t>(at)] / angle,
                                 static_cast<double>(d) / 2 / static_cast<double>(pair));
  };
  const double first = from(row, 1);
  if (!(first > 1)) return first;
  const double last = call.positions.back();
  const auto pair =
      static_cast<Index>(std::ceil(std::max(0.0, std::log(last / kTurn)) / std::log(first) * static_cast<double>(d) / 2));
  return pair < 1 || pair >= d / 2 ? first : from(call.inputs[0].rows() - 1, pair);
}

// Positions p that were taken for turn (p + shift): by a pair so slow that no angle is past pi, in the first row and the last.
void try_positions(Tries& tries) {
  constexpr double kMostAngle = 0.5;
  const SiteCall& call = tries.site().call;
  const Index d = call.inputs[0].cols() / call.heads;
  const double first = call.positions.front();
  const double last = call.positions.back();
  const double per_pair = std::pow(call.theta, -2.0 / static_cast<double>(d));
  if (last <= first || d < 4) return;
  const auto pair = static_cast<Index>(std::ceil(std::max(0.0, std::log(kMostAngle / last) / std::log(per_pair))));
  if (pair >= d / 2) return;
  const double frequency = std::pow(per_pair, static_cast<double>(pair));
  const double begin = turned_by(tries, 0, pair) / frequency;
  const double end = turned_by(tries, call.inputs[0].rows() - 1, pair) / frequency;
  const double turn = (end - begin) / (last - first);
  const auto shift = static_cast<std::int64_t>(std::llround(begin - first));
  if (shift != 0 && tries.attempt(fmt::format("positions moved by {}", shift), [&](SiteCall& changed) { changed.shift = shift; }))
    return;
  for (int digits = 1; digits <= kDigits; ++digits) {
    if (try_digits(tries, turn, digits, "positions {} times as large",
                   [](SiteCall& changed, double told) { changed.turn = told; }) ||
        try_digits(tries, 1 / turn, digits, "positions over {}", [](SiteCall& changed, double told) { changed.turn = 1 / told; }))
      return;
  }
}

void try_rope(Tries& tries) {
  if (try_rounded(tries, estimated_theta(tries), "theta {}", [](SiteCall& call, double told) { call.theta = told; })) return;
  try_positions(tries);
}

// Of the smallest row: (x w / y)^2 is its mean square and eps.
double estimated_eps(const Tries& tries) {
  const SiteCall& call = tries.site().call;
  const RowMatrix& x = call.inputs[0];
  const Index n = x.cols() / call.heads;
  if (call.weight->cols() != n) return 0;
  const Eigen::RowVectorXd weight = call.weight->rows(0, 1).value;
  double least = std::numeric_limits<double>::infinity();
  double eps = 0;
  for (Index row = 0; row < x.rows(); ++row) {
    for (Index head = 0; head < call.heads; ++head) {
      const auto in = x.row(row).segment(head * n, n);
      const double mean = in.squaredNorm() / static_cast<double>(n);
      if (mean >= least || mean == 0) continue;
      least = mean;
      const auto weighted = in.array() * weight.array();
      const auto out = tries.value().row(row).segment(head * n, n).array();
      eps = weighted.square().sum() / out.square().sum() - mean;
    }
  }
  return eps;
}

void try_eps(Tries& tries) {
  try_rounded(tries, estimated_eps(tries), "eps {}", [](SiteCall& call, double told) { call.eps = told; });
}

// Each summand by the least squares of the values without the other.
void try_summands(Tries& tries) {
  const SiteCall& call = tries.site().call;
  if (call.inputs[0].cols() != tries.value().cols() || call.inputs[1].cols() != tries.value().cols()) return;
  for (const std::size_t one : {1U, 0U}) {
    const RowMatrix& own = call.inputs[one];
    const double factor = (tries.value() - call.inputs[1 - one]).cwiseProduct(own).sum() / own.squaredNorm();
    const std::string name = source_text(tries.site().wiring.inputs[one]);
    const auto scaled = [one](SiteCall& changed, double told) { changed.factors[one] = told; };
    if (factor < 0 &&
        tries.attempt(fmt::format("{} taken off, not added", name), [&](SiteCall& changed) { scaled(changed, -1); }))
      return;
    if (try_rounded(tries, factor, (name + " added {} times").c_str(), scaled)) return;
  }
}

// y / (g up) is the sigmoid of so many times the gate.
double estimated_beta(const Tries& tries) {
  const RowMatrix& gate = tries.site().call.inputs[0];
  const RowMatrix& up = tries.site().call.inputs[1];
  std::vector<double> all;
  for (Index i = 0; i < gate.size(); ++i) {
    const double g = gate.data()[i];
    const double part = tries.value().data()[i] / (g * up.data()[i]);
    if (std::abs(g) > 0.5 && std::abs(g) < 4 && part > 0 && part < 1) all.push_back(std::log(part / (1 - part)) / g);
  }
  return middle_of(std::move(all));
}

// What the largest number that is wrong was cut to: of up where the gate is below 0, which no limit touches; of the gate where up is far smaller.
double estimated_limit(const Tries& tries, bool of_up) {
  const RowMatrix& gate = tries.site().call.inputs[0];
  const RowMatrix& up = tries.site().call.inputs[1];
  double largest = 0;
  double limit = 0;
  for (Index i = 0; i < gate.size(); ++i) {
    const double g = gate.data()[i];
    const double u = up.data()[i];
    const double y = tries.value().data()[i];
    const double silu = g / (1 + std::exp(-g));
    const double size = of_up ? std::abs(u) : g;
    const bool whole = of_up ? g < -0.1 && g > -4 : std::abs(u) < g / 2;
    if (size <= largest || !whole || std::abs(y - silu * u) <= kIdentity * std::abs(y)) continue;
    largest = size;
    const double cut = of_up ? std::abs(y / silu) : std::abs(y / u);
    limit = cut;
    for (int step = 0; step < 50 && !of_up; ++step) limit = cut * (1 + std::exp(-limit));  // silu(limit) = cut
  }
  return limit;
}

void try_swiglu(Tries& tries) {
  const SiteCall& call = tries.site().call;
  if (call.inputs[0].size() != tries.value().size() || call.inputs[1].size() != tries.value().size()) return;
  if (try_rounded(tries, estimated_beta(tries), "a sigmoid of {} times the gate",
                  [](SiteCall& changed, double told) { changed.beta = told; }))
    return;
  const double of_up = estimated_limit(tries, true);
  const double of_gate = estimated_limit(tries, false);
  const auto set_up = [](SiteCall& changed, double told) { changed.up_limit = told; };
  const auto set_gate = [](SiteCall& changed, double told) { changed.gate_limit = told; };
  const auto set_both = [](SiteCall& changed, double told) { changed.up_limit = changed.gate_limit = told; };
  if (try_rounded(tries, of_up, "up clamped at {}", set_up, false) ||
      try_rounded(tries, of_gate, "the gate clamped at {}", set_gate, false))
    return;
  if (!try_rounded(tries, of_up, "gate and up clamped at {}", set_both, false))
    try_rounded(tries, of_gate, "gate and up clamped at {}", set_both, false);
}

constexpr TriedOf kEstimates[] = {{Formula::rms_norm, try_eps},
                                  {Formula::rope, try_rope},
                                  {Formula::attention, try_attention_estimates},
                                  {Formula::swiglu, try_swiglu},
                                  {Formula::add, try_summands}};

}  // namespace

double to_digits(double x, int digits) {
  return std::stod(fmt::format("{:.{}e}", x, digits - 1));
}

void try_estimates(Tries& tries) {
  try_by_formula(tries, kEstimates);
}

}  // namespace assay::explanation
