#include "harness/forensics/order/claim.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/forensics/order/kernel_sums.h"
#include "harness/forensics/order/order.h"
#include "harness/forensics/order/report.h"

namespace assay::order {
namespace {

using Kind = reference::Order::Kind;

constexpr std::int64_t kFewTerms = 300;  // terms of a sum: strides, and a tail
constexpr std::int64_t kFewBlocks = 33;
constexpr std::int64_t kFewKeys = 50;

Params params_of(const Op& op) {
  const bool product = std::string_view(op.family->name) == "product";
  if (product && is_block(op.from)) return params_of_length(op, kFewBlocks * dtype_numbers(op.from));
  return params_of_length(op, std::string_view(op.family->name) == "attention" ? kFewKeys : kFewTerms);
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
    const int bits = sum.found->precision;
    if (how.acc != nullptr && is_of_accumulator(sum.what) && bits > 0 && !sum.found->at_least && bits < how.acc->digits) {
      return fmt::format("acc={} is declared; at {} the {} are added up in {}", words.at("acc"), sum.params.to_string(), sum.what,
                         accumulator_name(*sum.found));
    }
    const bool own = how.order.kind == Kind::canonical;
    if (!words.contains("order") || !is_of_order(sum.what) || (own ? sum.canonical : agrees(sum.found->tree, how.order)))
      continue;
    return fmt::format("order={} is declared; at {} the {} are added up in another: {}", words.at("order"),
                       sum.params.to_string(), sum.what, words_of(sum));
  }
  return std::nullopt;
}

std::optional<std::string> refutation(const Op& op, const Candidate& candidate, std::size_t page) {
  return refutation(orders_of(op, candidate, std::vector{params_of(op)}, page, [](const std::string&) {}), candidate);
}

}  // namespace assay::order
