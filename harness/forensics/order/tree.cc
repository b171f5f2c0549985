#include "harness/forensics/order/tree.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "harness/verdict/discipline/poison.h"

namespace assay::order {
namespace {

std::uint64_t mixed(int term) {
  auto state = static_cast<std::uint64_t>(term) + 1;
  return split_mix(state);
}

// Of each node the set of its terms, as the sum of a mixed number for each: equal sets have equal sums, others by a chance of 2^-64.
std::vector<std::uint64_t> sets_of(const Tree& tree) {
  std::vector<std::uint64_t> sets(tree.size());
  for (std::size_t node = 0; node < tree.size(); ++node) {
    const Tree::Node& one = tree.at(static_cast<int>(node));
    if (one.children.empty()) sets[node] = mixed(one.term);
    for (const int child : one.children) sets[node] += sets[static_cast<std::size_t>(child)];
  }
  return sets;
}

}  // namespace

int Tree::leaf(int term) {
  nodes_.push_back({{}, term, 1, term});
  return static_cast<int>(nodes_.size()) - 1;
}

int Tree::join(std::vector<int> children) {
  std::ranges::sort(children, {}, [this](int child) { return at(child).first; });
  const int first = at(children.front()).first;
  Node node{std::move(children), -1, 0, first};
  for (const int child : node.children) node.terms += at(child).terms;
  nodes_.push_back(std::move(node));
  return static_cast<int>(nodes_.size()) - 1;
}

int Tree::depth() const {
  std::vector<int> depths(nodes_.size(), 0);
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    for (const int child : nodes_[node].children)
      depths[node] = std::max(depths[node], depths[static_cast<std::size_t>(child)] + 1);
  }
  return depths.empty() ? 0 : depths.back();
}

// A tree is the family of its nodes' sets.
bool Tree::operator==(const Tree& other) const {
  auto mine = sets_of(*this);
  auto theirs = sets_of(other);
  std::ranges::sort(mine);
  std::ranges::sort(theirs);
  return mine == theirs;
}

std::vector<int> terms_below(const Tree& tree, int node) {
  std::vector<int> terms;
  std::vector<int> open{node};
  while (!open.empty()) {
    const Tree::Node& one = tree.at(open.back());
    open.pop_back();
    if (one.children.empty()) terms.push_back(one.term);
    open.insert(open.end(), one.children.begin(), one.children.end());
  }
  std::ranges::sort(terms);
  return terms;
}

SumsOf::SumsOf(const Tree& tree) {
  const auto sets = sets_of(tree);
  sums_.insert(sets.begin(), sets.end());
}

bool SumsOf::has(std::span<const int> terms) const {
  std::uint64_t sum = 0;
  for (const int term : terms) sum += mixed(term);
  return sums_.contains(sum);
}

std::vector<int> first_difference(const Tree& tree, const Tree& other) {
  const auto theirs = sets_of(other);
  const std::set<std::uint64_t> known(theirs.begin(), theirs.end());
  const auto mine = sets_of(tree);
  int smallest = -1;
  for (std::size_t node = 0; node < tree.size(); ++node) {
    const Tree::Node& one = tree.at(static_cast<int>(node));
    if (known.contains(mine[node])) continue;
    const bool smaller = smallest < 0 || one.terms < tree.at(smallest).terms ||
                         (one.terms == tree.at(smallest).terms && one.first < tree.at(smallest).first);
    if (smaller) smallest = static_cast<int>(node);
  }
  return smallest < 0 ? std::vector<int>{} : terms_below(tree, smallest);
}

}  // namespace assay::order
