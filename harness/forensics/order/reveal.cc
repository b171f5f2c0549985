#include "harness/forensics/order/reveal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <ranges>

namespace assay::order {
namespace {

constexpr std::size_t kFirstTriples = 32;
constexpr std::size_t kProbes = 15;  // nodes of a path that are asked about at once

class Revealer {
 public:
  explicit Revealer(const Below& below) : below_(below) {}

  // The tree over `terms`, ascending, which make up a whole sum. From `pivot` upwards: each group of terms that have the same l(pivot, .) is
  // joined at the same node.
  int build(const std::vector<int>& terms, bool from_last) {
    const int pivot = from_last ? terms.back() : terms.front();
    int node = tree_.leaf(pivot);
    std::map<int, std::vector<int>> groups;
    std::vector<int> others = terms;
    std::erase(others, pivot);
    const std::vector<int> sizes = sizes_with(pivot, others);
    for (std::size_t i = 0; i < others.size(); ++i) groups[sizes[i]].push_back(others[i]);
    // One group alone tells nothing of its inside: a sum in reverse is seen from its other end.
    const bool turn = groups.size() == 1 && terms.size() > 2;
    for (const auto& [size, group] : groups) {
      const int have = tree_.at(node).terms;
      if (size != have + static_cast<int>(group.size())) {
        throw NotATree(fmt::format("the smallest sum that holds terms {} and {} has {} terms, and {} were found in it", pivot,
                                   group.front(), size, have + static_cast<int>(group.size())));
      }
      std::vector<int> children{node};
      for (const auto& part : parts(group, size)) children.push_back(build(part, turn != from_last));
      node = tree_.join(std::move(children));
    }
    return node;
  }

  Tree take() { return std::move(tree_); }

 private:
  // Terms that are joined before they meet the rest, from those that meet at the node of `size` terms itself.
  std::vector<std::vector<int>> parts(const std::vector<int>& group, int size) {
    std::vector<std::vector<int>> found;
    std::vector<int> left = group;
    while (!left.empty()) {
      const int one = left.front();
      std::vector<int> with{one};
      std::vector<int> others;
      left.erase(left.begin());
      const std::vector<int> sizes = sizes_with(one, left);
      for (std::size_t i = 0; i < left.size(); ++i) (sizes[i] < size ? with : others).push_back(left[i]);
      found.push_back(std::move(with));
      left = std::move(others);
    }
    return found;
  }

  // l(one, .) of each, asked for once.
  std::vector<int> sizes_with(int one, const std::vector<int>& others) {
    std::vector<Pair> unknown;
    for (const int other : others) {
      const Pair pair = std::minmax(one, other);
      if (!known_.contains(pair)) unknown.push_back(pair);
    }
    const std::vector<int> found = unknown.empty() ? std::vector<int>{} : below_(unknown);
    for (std::size_t i = 0; i < unknown.size(); ++i) known_[unknown[i]] = found[i];
    std::vector<int> sizes;
    for (const int other : others) sizes.push_back(known_.at(std::minmax(one, other)));
    return sizes;
  }

  const Below& below_;
  Tree tree_;
  std::map<Pair, int> known_;
};

// A tree that grows by a leaf at a time. Children are by place, none: -1.
class Growing {
 public:
  explicit Growing(const JoinedFirst& joined_first) : joined_first_(joined_first) {}

  void add(int term) {
    const int leaf = make(term);
    if (root_ < 0) {
      root_ = leaf;
      return;
    }
    const int at = place_of(term);
    const int parent = nodes_[index(at)].parent;
    const int joint = make(nodes_[index(at)].term);
    nodes_[index(joint)] = {{at, leaf}, parent, nodes_[index(at)].term, nodes_[index(at)].leaves + 1};
    nodes_[index(at)].parent = nodes_[index(leaf)].parent = joint;
    if (parent < 0) {
      root_ = joint;
    } else {
      auto& children = nodes_[index(parent)].children;
      children[children[0] == at ? 0 : 1] = joint;
    }
    for (int above = parent; above >= 0; above = nodes_[index(above)].parent) ++nodes_[index(above)].leaves;
  }

  // Children before parents.
  Tree tree() const {
    Tree tree;
    std::vector<int> order;
    std::vector<int> open{root_};
    while (!open.empty()) {
      const int node = open.back();
      open.pop_back();
      order.push_back(node);
      if (is_leaf(node)) continue;
      open.insert(open.end(), nodes_[index(node)].children.begin(), nodes_[index(node)].children.end());
    }
    std::vector<int> made(nodes_.size());
    for (const int node : order | std::views::reverse) {
      const Node& one = nodes_[index(node)];
      made[index(node)] =
          is_leaf(node) ? tree.leaf(one.term) : tree.join({made[index(one.children[0])], made[index(one.children[1])]});
    }
    return tree;
  }

 private:
  struct Node {
    std::array<int, 2> children{-1, -1};
    int parent = -1;
    int term = 0;  // one below it
    int leaves = 1;
  };

  static std::size_t index(int node) { return static_cast<std::size_t>(node); }
  bool is_leaf(int node) const { return nodes_[index(node)].children[0] < 0; }
  int make(int term) {
    nodes_.push_back({{-1, -1}, -1, term, 1});
    return static_cast<int>(nodes_.size()) - 1;
  }

  // The node that the term is joined with. From the top down the heavier children are a path, whose nodes hold the term down to some node.
  // Beside the path the same again.
  int place_of(int term) {
    int top = root_;
    while (is_under(top, term)) {
      std::vector<int> path{top};
      while (!is_leaf(path.back())) path.push_back(heavier(path.back()));
      std::size_t holds = 0;
      std::size_t does_not = path.size() - 1;
      while (does_not - holds > 1) narrow(path, term, holds, does_not);
      const auto& [left, right] = nodes_[index(path[holds])].children;
      const int beside = left == path[does_not] ? right : left;
      if (first({nodes_[index(path[does_not])].term, term, nodes_[index(beside)].term})) return path[does_not];
      top = beside;
    }
    return top;
  }

  // Of a path whose node `holds` has the term below it and `does_not` has not, the part in which that changes.
  void narrow(const std::vector<int>& path, int term, std::size_t& holds, std::size_t& does_not) {
    const std::size_t between = does_not - holds - 1;
    const std::size_t count = std::min(kProbes, between);
    std::vector<std::size_t> probes;
    std::vector<Triple> triples;
    for (std::size_t i = 1; i <= count; ++i) {
      probes.push_back(holds + i * (between + 1) / (count + 1));
      triples.push_back(children_and(path[probes.back()], term));
    }
    const std::vector<bool> children_first = joined_first_(triples);
    for (std::size_t i = 0; i < count; ++i) {
      if (!children_first[i]) {
        holds = probes[i];
      } else {
        does_not = probes[i];
        return;
      }
    }
  }

  int heavier(int node) const {
    const auto& [left, right] = nodes_[index(node)].children;
    return nodes_[index(left)].leaves >= nodes_[index(right)].leaves ? left : right;
  }

  // Whether the term is joined below the node: with one of its two children before the two meet.
  bool is_under(int node, int term) {
    if (is_leaf(node)) return false;
    return !first(children_and(node, term));
  }
  Triple children_and(int node, int term) const {
    const auto& [left, right] = nodes_[index(node)].children;
    return {nodes_[index(left)].term, nodes_[index(right)].term, term};
  }
  bool first(const Triple& triple) { return joined_first_({&triple, 1}).front(); }

  const JoinedFirst& joined_first_;
  std::vector<Node> nodes_;
  int root_ = -1;
};

}  // namespace

Tree reveal(int n, const Below& below) {
  std::vector<int> terms(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) terms[static_cast<std::size_t>(i)] = i;
  Revealer revealer(below);
  if (n > 0) revealer.build(terms, false);
  return revealer.take();
}

Tree reveal_by_triples(int n, const JoinedFirst& joined_first) {
  Growing growing(joined_first);
  for (int term = 0; term < n; ++term) growing.add(term);
  Tree tree = n > 0 ? growing.tree() : Tree();
  if (!is_tree(tree, joined_first)) throw NotATree("what the triples of terms tell is of no tree whose nodes join two");
  return tree;
}

bool is_tree(const Tree& tree, const JoinedFirst& joined_first) {
  std::vector<Triple> first;
  std::vector<Triple> later;
  for (std::size_t node = 0; node < tree.size(); ++node) {
    const auto& children = tree.at(static_cast<int>(node)).children;
    if (children.empty()) continue;
    if (children.size() != 2) return false;
    for (const auto& [upper, beside] : {std::pair{children[0], children[1]}, {children[1], children[0]}}) {
      const Tree::Node& inner = tree.at(upper);
      if (inner.children.empty()) continue;
      const int a = tree.at(inner.children[0]).first;
      const int b = tree.at(inner.children[1]).first;
      const int c = tree.at(beside).first;
      first.push_back({a, b, c});
      later.push_back({a, c, b});
    }
  }
  const auto all = [&](const std::vector<Triple>& triples, bool wanted) {
    // A tree that is another one differs soon.
    for (std::size_t from = 0, count = kFirstTriples; from < triples.size(); from += count, count = triples.size() - from) {
      const auto part = std::span(triples).subspan(from, std::min(count, triples.size() - from));
      const std::vector<bool> found = joined_first(part);
      if (std::ranges::find(found, !wanted) != found.end()) return false;
    }
    return true;
  };
  return all(first, true) && all(later, false);
}

}  // namespace assay::order
