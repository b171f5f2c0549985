#include "harness/forensics/order/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/verdict/cases.h"
#include "harness/verdict/trials.h"

namespace assay::order {
namespace {

// With these a tail, a part of a block and many blocks are seen.
constexpr std::int64_t kLengths[] = {16, 100, 1000, 4096};

// Of a length, as many as make a call's sums worth their while.
Params with_length(const Op& op, const char* name, std::int64_t length) {
  Params params = complete_params(op, {});
  params.set(name, length);
  return params;
}

std::vector<Params> shapes_of(const Op& op, const OrderRequest& request) {
  std::vector<Params> shapes;
  for (const Params& given : request.shapes) shapes.push_back(complete_params(op, given));
  if (!shapes.empty()) return shapes;
  for (const std::int64_t length : kLengths) shapes.push_back(with_length(op, "k", length));
  return shapes;
}

// Sums of the same terms at all places of a call must be one number.
std::vector<std::string> uneven_places(const Sum& sum) {
  if (sum.places < 2) return {};
  Sum::Factors row(static_cast<std::size_t>(sum.terms));
  std::uint64_t state = 1;
  for (double& one : row) one = 1 + static_cast<double>(split_mix(state) % 128) / 128;
  const std::vector<Sum::Factors> rows(static_cast<std::size_t>(sum.places), row);
  // x is no power of two, so that products are rounded.
  Sum::Factors x(row.rbegin(), row.rend());
  for (double& one : x) one += 0x1p-20;
  const std::vector<double> found = sum.run(rows, x);
  const auto other = std::ranges::find_if(found, [&](double one) { return one != found.front(); });
  if (other == found.end()) return {};
  return {fmt::format("where the output lies: output {} and output 0 of the same terms differ", other - found.begin())};
}

Sum at_first_place(const Sum& sum) {
  Sum one = sum;
  one.places = 1;
  return one;
}

}  // namespace

SumOrder order_of(const KernelSum& kernel) {
  SumOrder order;
  order.what = kernel.what;
  order.terms = kernel.sum.terms;
  const Tree canonical = tree_of(kernel.canonical, order.terms);
  try {
    order.depends = uneven_places(kernel.sum);
    order.found = discover(order.depends.empty() ? kernel.sum : at_first_place(kernel.sum), canonical);
  } catch (const NotATree& error) {
    order.why = fmt::format("not a tree: {}", error.what());
    return order;
  } catch (const CallFailed& error) {
    order.why = error.what();
    return order;
  }
  order.canonical = order.found->hypothesis || order.found->tree == canonical;
  order.shape = order.canonical ? kernel.canonical : shape_of(order.found->tree);
  if (!order.canonical) order.difference = first_difference(order.found->tree, canonical);
  return order;
}

bool KernelOrder::breaks_claim() const {
  return claims_canonical && std::ranges::any_of(sums, [](const SumOrder& sum) { return sum.found && !sum.canonical; });
}

bool KernelOrder::depends_on_shape() const {
  std::map<std::string, std::set<std::string>> words;
  for (const SumOrder& sum : sums) {
    if (sum.found && sum.terms > 2) words[sum.what].insert(sum.canonical ? "canonical" : sum.shape ? sum.shape->words() : "");
  }
  return std::ranges::any_of(words, [](const auto& of_kind) { return of_kind.second.size() > 1; });
}

OrderResult find_orders(const OrderRequest& request, const OrderProgress& progress) {
  const Op& op = require_op(request.op);
  CheckRequest check;
  check.ops = {request.op};
  check.isas = request.isas;
  check.variant = request.variant;
  check.runner = request.runner;
  OrderResult result{request.op, {}, {}, {}};
  Trials trials(check, result.skips);
  const std::vector<Candidate>& candidates = trials.of(op);
  trials.require_known_variant();
  result.runner = trials.runner();
  for (const Candidate& candidate : candidates) {
    result.kernels.push_back({variant_label(op.name, candidate.name), candidate.canonical, {}});
    KernelOrder& of_kernel = result.kernels.back();
    for (const Params& params : shapes_of(op, request)) {
      KernelCall kernel(op, params, *candidate.executor, trials.page());
      std::string why;
      std::vector<KernelSum> sums = sums_of(kernel, why);
      if (sums.empty()) throw std::invalid_argument(why);
      for (KernelSum& one : sums) {
        one.sum.run = [&, run = one.sum.run](std::span<const Sum::Factors> rows, const Sum::Factors& x) {
          progress(fmt::format("{} {} {}: {} calls", of_kernel.variant, params.to_string(), one.what, kernel.calls()));
          return run(rows, x);
        };
        const std::int64_t before = kernel.calls();
        of_kernel.sums.push_back(order_of(one));
        of_kernel.sums.back().params = params;
        of_kernel.sums.back().calls = kernel.calls() - before;
      }
      if (!of_kernel.sums.back().found) continue;
      for (const std::string& how : kernel.dependences()) of_kernel.sums.back().depends.push_back(how);
    }
  }
  return result;
}

}  // namespace assay::order
