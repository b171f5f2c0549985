// Products of numbers: an output is a sum of k of them.
#include <algorithm>
#include <cmath>

#include "harness/forensics/order/block_writer.h"
#include "harness/forensics/order/kernel_sums.h"

namespace assay::order {
namespace {

constexpr Shape kCanonical{.block = 64};

// What a type of weights holds of powers of two.
void set_range(Sum& sum, DType weights) {
  if (weights != DType::f16) return;
  sum.least = -24;
  sum.most = 15;
  sum.x_most = 60;
}

}  // namespace

KernelSum products_of_numbers(KernelCall& kernel) {
  const Call& call = kernel.call();
  const std::int64_t n = call.params().integer("n");
  const std::int64_t k = call.params().integer("k");
  Sum sum{.terms = static_cast<int>(k), .places = static_cast<int>(n), .long_x = true};
  set_range(sum, call.op().from);
  const auto differs = std::make_shared<std::string>();
  sum.run = [&kernel, n, k, differs](std::span<const Sum::Factors> rows, const Sum::Factors& x) {
    Array& w = kernel.input("w");
    std::ranges::fill(w.bytes, 0);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto at = static_cast<std::int64_t>(row);
      for (std::size_t c = 0; c < rows[row].size(); ++c) {
        const std::int64_t column = (at / kTileRows * k + static_cast<std::int64_t>(c)) * kTileRows + at % kTileRows;
        if (rows[row][c] != 0) set_number(w, column, rows[row][c]);
      }
    }
    Array& activations = kernel.input("x");
    for (std::int64_t i = 0; i < activations.elements(); ++i)
      set_number(activations, i, x.empty() ? 1.0 : x[static_cast<std::size_t>(i % k)]);
    return columns_of(kernel.run(), n, *differs);
  };
  return signed_sum("products", kCanonical, sum, differs);
}

// Weights decode to 1; the activations, a row for each sum, are the terms.
KernelSum products_of_decoded(KernelCall& kernel) {
  const Call& call = kernel.call();
  const std::int64_t n = call.params().integer("n");
  const std::int64_t k = call.params().integer("k");
  const BlockWriter writer(call.op().from);
  Array& w = kernel.input("w");
  for (std::int64_t b = 0; b < w.elements(); ++b) writer.write(1, kEveryElement, w, b);
  Sum sum{.terms = static_cast<int>(k), .places = static_cast<int>(kernel.input("x").elements() / k)};
  sum.run = [&kernel, n, k](std::span<const Sum::Factors> rows, const Sum::Factors& x) {
    Array& activations = kernel.input("x");
    std::ranges::fill(activations.bytes, 0);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (std::size_t c = 0; c < rows[row].size(); ++c)
        set_number(activations, static_cast<std::int64_t>(row) * k + static_cast<std::int64_t>(c),
                   rows[row][c] * (x.empty() ? 1 : x[c]));
    }
    const Array y = kernel.run();
    std::vector<double> sums;
    for (std::size_t row = 0; row < rows.size(); ++row) sums.push_back(y.number(static_cast<std::int64_t>(row) * n));
    return sums;
  };
  return signed_sum("products", kCanonical, sum);
}

}  // namespace assay::order
