// In which order a kernel adds up, and how that differs from the canonical order (docs/order.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/forensics/order/kernel_sums.h"
#include "harness/verdict/suite.h"

namespace assay::order {

struct OrderRequest {
  std::string op;
  std::vector<Isa> isas = {};  // none: every one that this CPU runs
  std::string variant = {};
  std::optional<RunnerOptions> runner = {};
  std::vector<Callable> callables = {};  // with these, it is they that are looked into
  std::vector<Params> shapes = {};       // none: some of the op's own
};

// What a sum of a kernel is at one shape.
struct SumOrder {
  std::string what;
  Params params;
  int terms = 0;
  std::optional<Found> found;
  std::string why;  // there is none: "not a tree: ..", "not observable: ..", or how the call failed
  std::optional<Shape> shape;
  bool canonical = false;
  std::vector<int> difference;  // the terms of the first sum that the canonical order does not have; none: it has other terms
  std::vector<std::string> depends;  // on what beside the shape
  std::int64_t calls = 0;            // of the kernel, all told
};

struct KernelOrder {
  std::string variant;
  bool claims_canonical = true;
  std::vector<SumOrder> sums;
  std::string declares = {};  // "nan=no, order=lanes:8"
  std::string refuted = {};   // by what of that is false, and how
  // It claims the canonical bits, and a sum of it has another order.
  bool breaks_claim() const;
  // Whether its sums of one kind are in other words at other shapes.
  bool depends_on_shape() const;
};

struct OrderResult {
  std::string op;
  std::vector<KernelOrder> kernels;
  std::vector<Skip> skips;
  std::string runner;
};

using OrderProgress = std::function<void(const std::string& text)>;

// Throws std::invalid_argument for unknown names and for an op that has nothing to look into, RunnerError for a plugin that cannot be used.
// `shapes`: none, some of the op's own. Sums whose calls fail or whose order is not to be found say so.
KernelOrder orders_of(const Op& op, const Candidate& candidate, std::span<const Params> shapes, std::size_t page,
                      const OrderProgress& progress);

OrderResult find_orders(const OrderRequest& request, const OrderProgress& progress);

// One sum, whatever it lies in. `known`: orders that are looked for first, beside the canonical one.
SumOrder order_of(const KernelSum& sum, std::span<const Shape> known = {});

}  // namespace assay::order
