#include "harness/forensics/order/claim.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/forensics/order/functions.h"
#include "harness/forensics/order/kernel_sums.h"
#include "harness/forensics/order/report.h"
#include "harness/verdict/declaration.h"

namespace assay::order {
namespace {

using Kind = reference::Order::Kind;

constexpr std::int64_t kFewTerms = 300;  // terms of a sum: strides, and a tail
constexpr std::int64_t kFewBlocks = 33;
constexpr std::int64_t kFewKeys = 50;
constexpr std::int64_t kMostDims = 512;

// The usual call, and where it is too short to show the order that is declared, one of two whole strides and a tail.
std::vector<Params> params_of(const Op& op, const reference::Order& order) {
  const std::string_view family = op.family->name;
  if (family == "product" && is_block(op.from)) return {params_of_length(op, kFewBlocks * dtype_numbers(op.from))};
  const std::int64_t enough = 2 * order.count + order.count / 2;
  if (family != "attention") {
    std::vector<Params> both{params_of_length(op, kFewTerms)};
    if (enough > kFewTerms) both.push_back(params_of_length(op, enough));
    return both;
  }
  std::vector<Params> both{params_of_length(op, kFewKeys)};
  if (enough > both.front().integer("head_dim")) {
    both.push_back(both.front());
    both.back().set("head_dim", std::min(enough, kMostDims));
  }
  return both;
}

// The terms from `first` on, `step` apart, below `end`.
std::vector<int> every(int first, int step, int end) {
  std::vector<int> terms;
  for (int term = first; term < end; term += step) terms.push_back(term);
  return terms;
}

// Each of so many lanes is a sum of its own, with or without the terms after the last whole stride.
bool has_lanes(const SumsOf& sums, int lanes, int terms) {
  for (int lane = 0; lane < lanes; ++lane) {
    if (!sums.has(every(lane, lanes, terms / lanes * lanes)) && !sums.has(every(lane, lanes, terms))) return false;
  }
  return true;
}

bool has_blocks(const SumsOf& sums, int block, int terms) {
  for (int first = 0; first < terms; first += block) {
    if (!sums.has(every(first, 1, std::min(first + block, terms)))) return false;
  }
  return true;
}

// Whether the declaration speaks of this sum. Of attention, orders are those of scores, and `acc` that of the values.
bool is_of_order(const std::string& what) {
  return what != "weights" && what != "weighted values";
}
bool is_of_accumulator(const std::string& what) {
  return what != "products of a score" && what != "weights";
}

// A wider one than is declared is as false as a narrower one: its bound would be void.
bool is_accumulator(const Found& found, const reference::Number& declared) {
  if (found.precision == 0) return true;
  return found.at_least ? found.precision <= declared.digits : found.precision == declared.digits;
}

// Of blocks a kernel has a term for each of its lanes: with fewer terms than two strides it has no such lanes.
bool has_order(const SumOrder& sum, const reference::Order& order) {
  const Tree& tree = sum.found->tree;
  if (sum.what == "blocks" && order.kind == Kind::lanes && tree.terms() < 2 * order.count) return false;
  return agrees(tree, order);
}

}  // namespace

bool agrees(const Tree& tree, const reference::Order& order) {
  const int terms = tree.terms();
  const SumsOf sums(tree);
  const auto count = static_cast<int>(std::min<std::int64_t>(order.count, terms));
  switch (order.kind) {
    case Kind::lanes:
      if (terms / count < 2) return true;
      for (int finer = 2; terms / (count * finer) >= 2; ++finer) {
        if (has_lanes(sums, count * finer, terms)) return false;
      }
      return has_lanes(sums, count, terms);
    case Kind::blocks:
      return has_blocks(sums, count, terms);
    case Kind::tree:
      return has_blocks(sums, count, terms) && tree.depth() <= order.additions(terms, 0);
    default:
      return true;
  }
}

std::optional<std::string> refutation(const KernelOrder& found, const Candidate& candidate) {
  const reference::Arithmetic& how = candidate.arithmetic;
  const auto& words = candidate.traits.words();
  for (const SumOrder& sum : found.sums) {
    if (!sum.found) continue;
    if (how.acc != nullptr && is_of_accumulator(sum.what) && !is_accumulator(*sum.found, *how.acc)) {
      return fmt::format("acc={} is declared; at {} the {} are added up in {}", words.at("acc"), sum.params.to_string(), sum.what,
                         accumulator_name(*sum.found));
    }
    const bool own = how.order.kind == Kind::canonical;
    if (!words.contains("order") || !is_of_order(sum.what) || (own ? sum.canonical : has_order(sum, how.order))) continue;
    return fmt::format("order={} is declared; at {} the {} are added up in another: {}", words.at("order"),
                       sum.params.to_string(), sum.what, words_of(sum));
  }
  return std::nullopt;
}

KernelOrder sums_that_show(const reference::Order& order, const Op& op, const Candidate& candidate, std::size_t page) {
  constexpr std::uint32_t kSeen = kSums | kLanes;
  if ((op.family->declarable(op, {}) & kSeen) != kSeen) return {};
  return orders_of(op, candidate, params_of(op, order), page, [](const std::string&) {});
}

std::optional<std::string> refutation(const Op& op, const Candidate& candidate, std::size_t page) {
  const auto why = refutation(sums_that_show(candidate.arithmetic.order, op, candidate, page), candidate);
  return why ? why : false_function(op, candidate, page);
}

bool Refuter::refutes(const std::string& properties) {
  if (!found_) found_ = sums_that_show(longest_, op_, candidate_, page_);
  Candidate declared = candidate_;
  declared.traits = candidate_.traits.with(Traits::parse(properties.c_str()));
  declared.arithmetic = arithmetic_of(op_, declared.traits.words());
  return refutation(*found_, declared) || false_function(op_, declared, page_);
}

}  // namespace assay::order
