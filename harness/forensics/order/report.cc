#include "harness/forensics/order/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "harness/reports/report.h"

namespace assay::order {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostTerms = 8;  // of a sum that is named

std::string terms_text(const std::vector<int>& terms) {
  if (terms.size() <= kMostTerms) return fmt::format("{}", fmt::join(terms, ", "));
  const auto head = std::span(terms).first(kMostTerms);
  return fmt::format("{}, ... ({} terms)", fmt::join(head, ", "), terms.size());
}

std::string fused_text(const Found& found) {
  return !found.fused ? "" : *found.fused ? ", fused multiply-add" : ", multiply, then add";
}

std::string sum_text(const SumOrder& sum, const Style& style) {
  std::string text = fmt::format("    {} {}: ", sum.terms, sum.what);
  const std::string calls = fmt::format(" ({} call{})\n", sum.calls, sum.calls == 1 ? "" : "s");
  if (!sum.found) return text + style.warn(sum.why) + calls;
  const Found& found = *sum.found;
  text += fmt::format("{}; accumulator {}{}; ", words_of(sum), accumulator_name(found), fused_text(found));
  if (!found.note.empty()) text += found.note + "; ";
  text += sum.canonical            ? style.good("canonical")
          : sum.difference.empty() ? "not canonical: a block has several terms"
                                   : "not canonical: the first sum that differs is of terms " + terms_text(sum.difference);
  text += calls;
  for (const std::string& what : sum.depends) text += "      it depends on " + what + "\n";
  return text;
}

Json joins_of(const Tree& tree) {
  std::vector<int> number(tree.size());
  int next = tree.terms();
  Json joins = Json::array();
  for (std::size_t node = 0; node < tree.size(); ++node) {
    const Tree::Node& one = tree.at(static_cast<int>(node));
    number[node] = one.children.empty() ? one.term : next++;
    if (one.children.empty()) continue;
    Json join = Json::array();
    for (const int child : one.children) join.push_back(number[static_cast<std::size_t>(child)]);
    joins.push_back(join);
  }
  return joins;
}

Json sum_json(const SumOrder& sum) {
  Json json{{"sum", sum.what}, {"shape", sum.params.to_string()}, {"terms", sum.terms}, {"calls", sum.calls}};
  json["depends_on"] = sum.depends;
  if (!sum.found) {
    json["not_found"] = sum.why;
    return json;
  }
  const Found& found = *sum.found;
  json["words"] = words_of(sum);
  json["canonical"] = sum.canonical;
  if (!sum.canonical) json["first_difference"] = sum.difference;
  json["accumulator"] = accumulator_name(found);
  if (found.fused) json["fused"] = *found.fused;
  if (!found.note.empty()) json["note"] = found.note;
  if (sum.shape) {
    json["block"] = sum.shape->block;
    json["lanes"] = sum.shape->lanes;
    json["accumulators"] = sum.shape->accumulators;
  }
  json["joins"] = joins_of(found.tree);
  return json;
}

}  // namespace

std::string words_of(const SumOrder& sum) {
  const Tree& tree = sum.found->tree;
  if (tree.terms() < 2) return "nothing is added";
  if (tree.terms() == 2) return "two terms";
  if (tree.root().children.size() == static_cast<std::size_t>(tree.terms()))
    return "all terms in one rounding, such as exact integers: it has no order";
  if (sum.shape) return sum.shape->words();
  return fmt::format("a tree of no usual shape, of depth {}", tree.depth());
}

std::string order_text(const OrderResult& result, const Style& style) {
  std::string text;
  for (const KernelOrder& kernel : result.kernels) {
    text += style.strong(kernel.variant) + (kernel.declares.empty() ? "" : " declares " + kernel.declares) + "\n";
    std::string call;
    for (const SumOrder& sum : kernel.sums) {
      if (sum.params.to_string() != call) text += fmt::format("  {}\n", call = sum.params.to_string());
      text += sum_text(sum, style);
    }
    if (kernel.depends_on_shape()) text += "  the order depends on the shape\n";
    if (!kernel.refuted.empty()) text += style.bad("  " + kernel.refuted + "\n");
    if (kernel.breaks_claim()) text += style.bad("  it claims the canonical order\n");
  }
  for (const Skip& skip : result.skips) text += fmt::format("not run: {}: {}\n", skip.what, skip.why);
  return text;
}

Json order_json(const OrderResult& result) {
  Json json = environment_json();
  json["op"] = result.op;
  if (!result.runner.empty()) json["runner"] = result.runner;
  json["kernels"] = Json::array();
  for (const KernelOrder& kernel : result.kernels) {
    Json one{{"variant", kernel.variant},
             {"claims_canonical", kernel.claims_canonical},
             {"depends_on_shape", kernel.depends_on_shape()},
             {"declares", kernel.declares},
             {"refuted", kernel.refuted},
             {"sums", Json::array()}};
    for (const SumOrder& sum : kernel.sums) one["sums"].push_back(sum_json(sum));
    json["kernels"].push_back(one);
  }
  json["skips"] = Json::array();
  for (const Skip& skip : result.skips) json["skips"].push_back({{"what", skip.what}, {"why", skip.why}});
  json["text"] = order_text(result, Style::from_mode("never"));
  return json;
}

}  // namespace assay::order
