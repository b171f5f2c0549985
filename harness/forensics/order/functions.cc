#include "harness/forensics/order/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "harness/forensics/order/kernel_call.h"
#include "harness/verdict/cases.h"

namespace assay::order {
namespace {

using I = std::int64_t;

// What the kernel gives for e^x, for 1 / sqrt(x), or for a product x.
struct Value {
  double x;
  double got;
};

constexpr double kNear = -26;    // e to it, sixty times, is hundreds of times less than half a unit of 1
constexpr double kFar = -87;     // e to it is still a normal number
constexpr double kSlack = 0.01;  // ulp: what that sum, and the truth, may be off by

// Of all arguments in turn, spread from kNear to kFar; `step`: of which they are multiples.
double argument(I index, I count, double step) {
  const double even = kNear + (kFar - kNear) * static_cast<double>(index) / static_cast<double>(count);
  return std::ceil(even / step) * step;
}

// Rows of a zero and arguments so far below that their sum is 1.
std::vector<Value> of_softmax(const Op& op, Executor& executor, std::size_t page) {
  constexpr I kRows = 32;
  constexpr I kColumns = 60;
  KernelCall kernel(op, complete_params(op, {{"rows", kRows}, {"n", kColumns}}), executor, page);
  Array& x = kernel.input("x");
  for (I i = 0; i < x.elements(); ++i) set_number(x, i, i % kColumns == 0 ? 0 : argument(i, x.elements(), 0x1p-17));
  const Array y = kernel.run();
  std::vector<Value> values;
  for (I i = 0; i < x.elements(); ++i) {
    if (i % kColumns != 0) values.push_back({x.number(i), y.number(i)});
  }
  return values;
}

// Every third key has the score 0, so that the maximum is known from the first key on, whichever that is; there are sixteen, so that the division
// is exact. The others have a dimension each in which their value alone is not 0.
std::vector<Value> of_attention(const Op& op, Executor& executor, std::size_t page) {
  constexpr I kHeads = 16;
  constexpr I kKeys = 46;
  constexpr I kDims = 32;
  KernelCall kernel(
      op,
      complete_params(
          op, {{"length", kKeys}, {"head_dim", kDims}, {"n_kv", kHeads}, {"group", I{1}}, {"causal", I{0}}, {"scale", 0.5}}),
      executor, page);
  Array& q = kernel.input("q");
  for (I i = 0; i < q.elements(); i += kDims) set_number(q, i, 2);
  std::vector<Value> values;
  std::vector<I> places;
  for (I head = 0; head < kHeads; ++head) {
    I dim = 0;
    for (I key = 0; key < kKeys; ++key) {
      if (key % 3 == 0) continue;
      const I row = (head * kKeys + key) * kDims;
      const double x = argument(head * kKeys + key, kHeads * kKeys, 0x1p-4);  // which f16 holds
      set_number(kernel.input("k"), row, x);
      set_number(kernel.input("v"), row + dim, 16);
      values.push_back({x, 0});
      places.push_back(head * kDims + dim++);
    }
  }
  const Array y = kernel.run();
  for (std::size_t i = 0; i < values.size(); ++i) values[i].got = y.number(places[i]);
  return values;
}

// Rows of two numbers whose mean square is exact; the second is a power of two.
std::vector<Value> of_norm(const Op& op, Executor& executor, std::size_t page) {
  constexpr I kRows = 512;
  constexpr I kColumns = 16;
  constexpr double kPower = 0x1p10;
  KernelCall kernel(op, complete_params(op, {{"rows", kRows}, {"n", kColumns}, {"eps", 0x1p-126}}), executor, page);
  Array& w = kernel.input("w");
  for (I i = 0; i < w.elements(); ++i) set_number(w, i, 1);
  std::vector<Value> values;
  for (I row = 0; row < kRows; ++row) {
    const auto other = static_cast<double>(4 * row + 1);
    set_number(kernel.input("x"), row * kColumns, other);
    set_number(kernel.input("x"), row * kColumns + 1, kPower);
    values.push_back({(other * other + kPower * kPower) / static_cast<double>(kColumns), 0});
  }
  const Array y = kernel.run();
  for (I row = 0; row < kRows; ++row) values[static_cast<std::size_t>(row)].got = y.number(row * kColumns + 1) / kPower;
  return values;
}

// A product in each row of weights, of numbers that every type holds.
std::vector<Value> of_products(const Op& op, Executor& executor, std::size_t page) {
  constexpr I kRows = 64;
  constexpr I kColumns = 16;
  KernelCall kernel(op, complete_params(op, {{"n", kRows}, {"k", kColumns}}), executor, page);
  constexpr double kX = 1 + 0x1p-7;
  Array& x = kernel.input("x");
  for (I i = 0; i < x.elements(); i += kColumns) set_number(x, i, kX);
  std::vector<Value> values;
  for (I row = 0; row < kRows; ++row) {
    const double w = 1 + static_cast<double>(row) * 0x1p-7;
    set_number(kernel.input("w"), row / kTileRows * kColumns * kTileRows + row % kTileRows, w);
    values.push_back({w * kX, 0});
  }
  const Array y = kernel.run();
  for (I row = 0; row < kRows; ++row) values[static_cast<std::size_t>(row)].got = y.number(row);
  return values;
}

double ulp_of(double value) {
  return std::ldexp(1.0, std::ilogb(value) - 23);
}

// Beyond what is declared and what a kernel adds that multiplies by log2(e) first, |x| u; and of one that is never as far off as that makes it,
// beyond what is declared alone.
std::optional<std::string> rougher_exp(const std::vector<Value>& values, double declared) {
  constexpr double kByProduct = 16;  // ulp: reached by such a kernel, which is off by up to 87
  double most = 0;
  double beyond = 0;
  double at = 0;
  for (const auto& [x, got] : values) {
    const double truth = std::exp(x);
    const double error = std::fabs(got - truth) / ulp_of(truth);
    beyond = std::max(beyond, error - std::fabs(x) * reference::kU * truth / ulp_of(truth));
    if (error <= most) continue;
    most = error;
    at = x;
  }
  if ((most < kByProduct ? most : beyond) <= declared + kSlack) return std::nullopt;
  return fmt::format("exp={} is declared; e^{} is off by {:.3g} ulp", declared, at, most);
}

std::optional<std::string> rougher_root(const std::vector<Value>& values, double declared) {
  for (const auto& [x, got] : values) {
    const double truth = 1 / std::sqrt(x);
    const double ulps = std::fabs(got - truth) / (2 * reference::kU * truth);  // as the bound counts them
    if (ulps > declared + kSlack)
      return fmt::format("rsqrt={} is declared; the reciprocal root of {} is off by {:.3g} ulp", declared, x, ulps);
  }
  return std::nullopt;
}

std::optional<std::string> other_products(const std::vector<Value>& values, const reference::Number& declared) {
  for (const auto& [x, got] : values) {
    if (got != declared.round(x))
      return fmt::format("products={} is declared; the product {} is added as {}, not as {}", declared.name, x, got,
                         declared.round(x));
  }
  return std::nullopt;
}

bool narrow(const reference::Number* number) {
  return number != nullptr && number->digits < reference::kF32.digits;
}

}  // namespace

std::optional<std::string> false_function(const Op& op, const Candidate& candidate, std::size_t page) {
  const reference::Arithmetic& how = candidate.arithmetic;
  const std::string_view family = op.family->name;
  if (narrow(how.acc) || narrow(how.out)) return std::nullopt;  // then sums or results are rounded, too
  try {
    if (how.rsqrt > 0 && family == "rms_norm") return rougher_root(of_norm(op, *candidate.executor, page), how.rsqrt);
    if (how.exp > 0 && family == "softmax") return rougher_exp(of_softmax(op, *candidate.executor, page), how.exp);
    const bool of_numbers = family == "product" && !is_block(op.from) && !is_block(op.to);
    if (how.products != nullptr && of_numbers) return other_products(of_products(op, *candidate.executor, page), *how.products);
    if (how.exp > 0 && family == "attention") return rougher_exp(of_attention(op, *candidate.executor, page), how.exp);
  } catch (const CallFailed&) {  // the check's own cases say it
  }
  return std::nullopt;
}

}  // namespace assay::order
