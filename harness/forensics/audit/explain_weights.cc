// Single numbers of a matrix or a table of weights, found from the values.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "harness/forensics/audit/explain.h"

namespace assay::explanation {
namespace {

constexpr std::size_t kTold = 3;

std::string number_text(const std::string& weight, std::int64_t row, Eigen::Index column, double own, double asked) {
  return fmt::format("number {} of row {} of the weight {} is {:.6g}, the values ask for {:.6g}", column, row, weight, own,
                     asked);
}

// The row of the table that a row of values is.
std::optional<std::int64_t> row_of_table(const DecodedWeight& table, const Eigen::RowVectorXd& value,
                                         const Eigen::RowVectorXd& bound) {
  for (std::int64_t first = 0; first < table.rows(); first += kDecodedRows) {
    const RowMatrix rows = table.rows(first, std::min(kDecodedRows, table.rows() - first)).value;
    for (Eigen::Index row = 0; row < rows.rows(); ++row) {
      if (((rows.row(row) - value).cwiseAbs().array() <= bound.array()).all()) return first + row;
    }
  }
  return std::nullopt;
}

// Rows of the table that are not those of the tokens.
void try_other_tokens(Tries& tries, const Truth& truth) {
  const WrongSite& site = tries.site();
  std::map<std::int64_t, std::int64_t> others;
  for (const Eigen::Index row : excess_of(tries.value(), truth).rows) {
    const std::int64_t token = site.call.tokens[static_cast<std::size_t>(row)];
    if (others.contains(token)) continue;
    const auto other = row_of_table(*site.call.weight, tries.value().row(row), truth.bound.row(row));
    if (!other) return;
    others[token] = *other;
  }
  std::vector<std::string> told;
  for (const auto& [token, other] : others) {
    if (told.size() < kTold) told.push_back(fmt::format("the row of token {} in the place of {}'s", other, token));
  }
  const std::size_t more = others.size() - told.size();
  tries.add(fmt::format("{}{}", fmt::join(told, "; "), more > 0 ? fmt::format("; and {} more", more) : ""));
}

// Rows of a table are copied, so each number that differs is seen.
void try_table(Tries& tries, const Truth& truth) {
  const WrongSite& site = tries.site();
  std::map<std::pair<std::int64_t, Eigen::Index>, std::pair<double, double>> numbers;
  for (Eigen::Index row = 0; row < truth.value.rows(); ++row) {
    for (Eigen::Index column = 0; column < truth.value.cols(); ++column) {
      const double own = truth.value(row, column);
      const double value = tries.value()(row, column);
      if (std::abs(value - own) <= truth.bound(row, column)) continue;
      const auto [at, fresh] = numbers.try_emplace({site.call.tokens[static_cast<std::size_t>(row)], column}, own, value);
      if (!fresh && at->second.second != value) return;  // not the table's
    }
  }
  if (static_cast<Eigen::Index>(64 * numbers.size()) > truth.value.size()) return;
  std::vector<std::string> told;
  for (const auto& [at, values] : numbers) {
    if (told.size() < kTold) told.push_back(number_text(site.weight->name, at.first, at.second, values.first, values.second));
  }
  const std::size_t more = numbers.size() - told.size();
  tries.add(fmt::format("{}{}", fmt::join(told, "; "), more > 0 ? fmt::format("; and {} more", more) : ""));
}

// The error of a product's output over the rows is a multiple of one column of the activations.
std::optional<std::string> one_number(const Tries& tries, const Truth& truth, Eigen::Index output) {
  const WrongSite& site = tries.site();
  RowMatrix x = site.call.inputs[0];
  if (x.rows() < 2 || site.call.activations == ActivationRounding::u8_tensor) return std::nullopt;
  for (Eigen::Index row = 0; row < x.rows(); ++row)
    std::ranges::copy(round_activations(site.call.activations, {x.row(row).data(), static_cast<std::size_t>(x.cols())}),
                      x.row(row).data());
  const Eigen::VectorXd error = tries.value().col(output) - truth.value.col(output);
  if (!error.allFinite()) return std::nullopt;
  const Eigen::ArrayXd along = (x.transpose() * error).array();
  const Eigen::ArrayXd squares = x.colwise().squaredNorm().transpose().array();
  Eigen::Index at = 0;
  (squares > 0).select(along.square() / squares, 0.0).maxCoeff(&at);
  if (squares[at] == 0) return std::nullopt;
  const double moved = along[at] / squares[at];
  const Eigen::VectorXd left = error - moved * x.col(at);
  if ((left.cwiseAbs().array() > truth.bound.col(output).array()).any()) return std::nullopt;
  const double own = site.call.weight->rows(output, 1).value(0, at);
  return number_text(site.weight->name, output, at, own, own + moved);
}

// All other outputs are right, and these are wrong for most tokens.
void try_matrix(Tries& tries, const Truth& truth) {
  const Excess excess = excess_of(tries.value(), truth);
  const auto rows = excess.columns.size();
  if (static_cast<Eigen::Index>(4 * rows) > truth.value.cols()) return;
  std::vector<std::string> told;
  for (std::size_t i = 0; i < rows && rows <= kTold; ++i) {
    if (const auto text = one_number(tries, truth, excess.columns[i])) told.push_back(*text);
  }
  if (!told.empty() && told.size() == rows) {
    tries.add(fmt::format("{}", fmt::join(told, "; ")));
  } else if (2 * std::ssize(excess.rows) >= truth.value.rows()) {
    tries.add(
        fmt::format("other numbers in {} of {} rows of the weight {}", rows, truth.value.cols(), tries.site().weight->name));
  }
}

}  // namespace

void try_weight_numbers(Tries& tries, const Truth& truth) {
  if (tries.site().wiring.formula == Formula::embed) {
    try_table(tries, truth);
    if (tries.found().empty()) try_other_tokens(tries, truth);
  }
  if (tries.site().wiring.formula == Formula::linear) try_matrix(tries, truth);
}

}  // namespace assay::explanation
