// A norm's squares and a softmax's exponentials: a row is a sum.
#include <algorithm>
#include <cmath>

#include "harness/forensics/order/kernel_sums.h"
#include "harness/forensics/order/positive.h"

namespace assay::order {
namespace {

constexpr Shape kDot16{.lanes = 16, .joined = Join::halves};
constexpr double kNothing = -200;  // e to it is 0 in f32

// Rows of x that are `nothing` but where a term stands; of y what stands where a row's first term does.
Positive rows(KernelCall& kernel, double nothing, double (*to_x)(double term)) {
  const std::int64_t n = kernel.call().params().integer("n");
  Positive sum{.terms = static_cast<int>(n), .places = static_cast<int>(kernel.call().params().integer("rows"))};
  sum.run = [&kernel, n, nothing, to_x](std::span<const Positive::Few> all) {
    Array& x = kernel.input("x");
    for (std::int64_t i = 0; i < x.elements(); ++i) set_number(x, i, nothing);
    for (std::size_t row = 0; row < all.size(); ++row) {
      for (const auto& [at, value] : all[row]) set_number(x, static_cast<std::int64_t>(row) * n + at, to_x(value));
    }
    const Array y = kernel.run();
    std::vector<double> results;
    for (std::size_t row = 0; row < all.size(); ++row)
      results.push_back(y.number(static_cast<std::int64_t>(row) * n + all[row].front().at));
    return results;
  };
  return sum;
}

KernelSum positive_sum(std::string what, const Positive& sum) {
  return {std::move(what), sum.terms, kDot16, [sum](std::span<const Tree> expected) { return discover(sum, expected); }};
}

}  // namespace

std::vector<double> exact_squares(int digits) {
  const double most = std::ldexp(1.0, digits / 2);
  const double step = std::max(1.0, most / 256);
  std::vector<double> squares;
  for (double root = most / 2; root < most; root += step)
    squares.push_back(std::ldexp(root * root, (digits == 24 ? 60 : 2) - 2 * (digits / 2)));
  return squares;
}

double nearly_square(double value, int digits) {
  const auto root = static_cast<double>(static_cast<float>(std::sqrt(value)));
  return std::fabs(root * root - value) < std::ldexp(1.0, std::ilogb(value) + 1 - digits - 4) ? root * root : 0;
}

KernelSum squares_of_norm(KernelCall& kernel) {
  Array& w = kernel.input("w");
  for (std::int64_t i = 0; i < w.elements(); ++i) set_number(w, i, 1);
  Positive sum = rows(kernel, 0, [](double term) { return std::sqrt(term); });
  sum.large = exact_squares;
  sum.near = nearly_square;
  return positive_sum("squares", sum);
}

KernelSum exponentials_of_softmax(KernelCall& kernel) {
  Positive sum = rows(kernel, kNothing, [](double term) { return std::log(term); });
  sum.large = [](int) { return std::vector{1.0}; };
  return positive_sum("exponentials", sum);
}

}  // namespace assay::order
