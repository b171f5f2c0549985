// The tree in which a kernel adds the terms of a sum: who is joined with whom, and when. Leaves are the terms, by their index; the order of
// a node's operands cannot be seen from outside, so a tree here stands for all that differ in that alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace assay::order {

class Tree {
 public:
  struct Node {
    std::vector<int> children;  // none: a leaf. More than two: joined in one rounding
    int term = -1;              // of a leaf
    int terms = 0;              // how many lie below
    int first = 0;              // the least of them
  };

  // The nodes' indices. Children of join() are its to keep: each is used once, and the last node made is the root.
  int leaf(int term);
  int join(std::vector<int> children);

  int terms() const { return nodes_.empty() ? 0 : root().terms; }
  const Node& root() const { return nodes_.back(); }
  const Node& at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }
  std::size_t size() const { return nodes_.size(); }
  int depth() const;

  // The same sums, whichever order the nodes were made in.
  bool operator==(const Tree& other) const;

 private:
  std::vector<Node> nodes_;
};

// What two trees differ in first: the smallest sum of `tree` that `other` does not have, as the terms below it, ascending. None: equal.
std::vector<int> first_difference(const Tree& tree, const Tree& other);

// The sums that a tree has on its way.
class SumsOf {
 public:
  explicit SumsOf(const Tree& tree);
  bool has(std::span<const int> terms) const;

 private:
  std::set<std::uint64_t> sums_;
};

// The terms below a node, ascending.
std::vector<int> terms_below(const Tree& tree, int node);

}  // namespace assay::order
