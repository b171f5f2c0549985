#include "harness/forensics/order/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/forensics/order/claim.h"
#include "harness/verdict/cases.h"
#include "harness/verdict/trials.h"

namespace assay::order {
namespace {

std::vector<Params> usual_params(const Op& op) {
  std::vector<Params> shapes;
  for (const std::int64_t length : usual_lengths(op)) shapes.push_back(params_of_length(op, length));
  return shapes;
}

}  // namespace

SumOrder order_of(const KernelSum& kernel, std::span<const Shape> known) {
  SumOrder order;
  order.what = kernel.what;
  order.terms = kernel.terms;
  const Tree canonical = tree_of(kernel.canonical, order.terms);
  std::vector<Tree> expected{canonical};
  for (const Shape& shape : known) expected.push_back(tree_of(shape, order.terms));
  try {
    order.found = kernel.discover(expected);
  } catch (const NotATree& error) {
    order.why = fmt::format("not a tree: {}", error.what());
    return order;
  } catch (const NotObservable& error) {
    order.why = fmt::format("not observable: {}", error.what());
    return order;
  } catch (const CallFailed& error) {
    order.why = error.what();
    return order;
  }
  const Tree& tree = order.found->tree;
  order.depends = order.found->depends;
  order.canonical = tree == canonical;
  order.shape = order.canonical ? kernel.canonical : shape_of(tree);
  if (!order.canonical && tree.terms() == canonical.terms()) order.difference = first_difference(tree, canonical);
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

KernelOrder orders_of(const Op& op, const Candidate& candidate, std::span<const Params> shapes, std::size_t page,
                      const OrderProgress& progress) {
  KernelOrder all{variant_label(op.name, candidate.name), candidate.canonical, {}};
  std::map<std::string, std::vector<Shape>> known;  // by what is added up
  for (const Params& params : shapes) {
    std::string doing;
    KernelCall kernel(op, params, *candidate.executor, page,
                      [&](std::int64_t calls) { progress(fmt::format("{} {}: {} calls", all.variant, doing, calls)); });
    for (const KernelSum& one : sums_of(kernel)) {
      doing = fmt::format("{} {}", params.to_string(), one.what);
      const std::int64_t before = kernel.calls();
      SumOrder order = order_of(one, known[one.what]);
      order.params = params;
      order.calls = kernel.calls() - before;
      if (order.shape && !order.canonical) known[one.what].push_back(*order.shape);
      all.sums.push_back(std::move(order));
    }
    if (std::ranges::none_of(all.sums, [&](const SumOrder& sum) { return sum.found.has_value(); })) continue;
    for (const std::string& how : kernel.dependences()) all.sums.back().depends.push_back(how);
  }
  return all;
}

OrderResult find_orders(const OrderRequest& request, const OrderProgress& progress) {
  const Op& op = require_op(request.op);
  CheckRequest check;
  check.ops = {request.op};
  check.isas = request.isas;
  check.variant = request.variant;
  check.runner = request.runner;
  check.callables = request.callables;
  std::vector<Params> shapes;
  for (const Params& given : request.shapes) shapes.push_back(complete_params(op, given));
  if (shapes.empty()) shapes = usual_params(op);
  OrderResult result{request.op, {}, {}, {}};
  Trials trials(check, result.skips);
  const std::vector<Candidate>& candidates = trials.of(op);
  trials.require_known_variant();
  result.runner = trials.runner();
  for (const Candidate& candidate : candidates) {
    KernelOrder& found = result.kernels.emplace_back(orders_of(op, candidate, shapes, trials.page(), progress));
    found.declares = candidate.traits.to_string();
    found.refuted = refutation(found, candidate).value_or("");
  }
  return result;
}

}  // namespace assay::order
