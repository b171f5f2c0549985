#include "harness/forensics/order/kernel_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "reference/matvec.h"

namespace assay::order {
namespace {

// What a type of weights holds of powers of two.
void set_range(Sum& sum, DType weights) {
  if (weights != DType::f16) return;
  sum.least = -24;
  sum.most = 15;
  sum.x_most = 60;
}

// Row r of y, one number a column; the rows of x are alike.
std::vector<double> columns_of(const Array& y, std::int64_t columns) {
  std::vector<double> first;
  for (std::int64_t i = 0; i < y.elements(); ++i) {
    const double value = y.number(i);
    if (i < columns) {
      first.push_back(value);
    } else if (value != first[static_cast<std::size_t>(i % columns)]) {
      throw NotATree(fmt::format("rows 0 and {} of y differ, of x they do not: the order depends on the row", i / columns));
    }
  }
  return first;
}

// A column of y is a sum of k products, w's row by x.
KernelSum products(KernelCall& kernel) {
  const Call& call = kernel.call();
  const std::int64_t n = call.params().integer("n");
  const std::int64_t k = call.params().integer("k");
  KernelSum found{"products", "k", {.block = 64}, {}};
  found.sum.terms = static_cast<int>(k);
  found.sum.places = static_cast<int>(n);
  found.sum.long_x = true;
  set_range(found.sum, call.op().from);
  found.sum.run = [&kernel, n, k](std::span<const Sum::Factors> rows, const Sum::Factors& x) {
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
    return columns_of(kernel.run(), n);
  };
  return found;
}

}  // namespace

std::vector<KernelSum> sums_of(KernelCall& kernel, std::string& why) {
  const Op& op = kernel.call().op();
  if (op.contract == &reference::kMatvecContract) return {products(kernel)};
  why = fmt::format("{} has no sum of floats that is looked into", op.name);
  return {};
}

}  // namespace assay::order
