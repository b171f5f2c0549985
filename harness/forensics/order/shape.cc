#include "harness/forensics/order/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

namespace assay::order {
namespace {

constexpr int kMostPartials = 256;

constexpr int kNone = -1;  // a partial sum that no term goes to

int join_two(Tree& tree, int one, int other) {
  if (one == kNone || other == kNone) return std::max(one, other);
  return tree.join({one, other});
}

int join_of(Tree& tree, std::vector<int> parts, Join how) {
  if (how == Join::in_reverse) std::ranges::reverse(parts);
  const bool pairs = how == Join::neighbours || how == Join::halves;
  while (pairs && parts.size() > 1) {
    const std::size_t half = (parts.size() + 1) / 2;
    std::vector<int> joined;
    for (std::size_t i = 0; i < half; ++i) {
      const std::size_t one = how == Join::halves ? i : 2 * i;
      const std::size_t other = how == Join::halves ? i + half : 2 * i + 1;
      joined.push_back(join_two(tree, parts[one], other < parts.size() ? parts[other] : kNone));
    }
    parts = std::move(joined);
  }
  int total = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) total = join_two(tree, total, parts[i]);
  return total;
}

int chain_of(Tree& tree, const std::vector<int>& terms) {
  std::vector<int> leaves;
  for (const int term : terms) leaves.push_back(tree.leaf(term));
  return join_of(tree, std::move(leaves), Join::in_order);
}

int lanes_of(Tree& tree, const Shape& shape, const std::vector<int>& terms) {
  const auto stride = static_cast<std::size_t>(shape.lanes * shape.accumulators);
  const std::size_t whole = shape.tail == Tail::in_lanes ? terms.size() : terms.size() / stride * stride;
  std::vector<std::vector<int>> partial(stride);
  for (std::size_t i = 0; i < whole; ++i) partial[i % stride].push_back(terms[i]);
  const std::vector<int> rest(terms.begin() + static_cast<std::ptrdiff_t>(whole), terms.end());
  if (whole == 0) return chain_of(tree, rest);
  std::vector<int> by_lane;
  for (int lane = 0; lane < shape.lanes; ++lane) {
    std::vector<int> own;
    for (auto at = static_cast<std::size_t>(lane); at < partial.size(); at += static_cast<std::size_t>(shape.lanes))
      own.push_back(partial[at].empty() ? kNone : chain_of(tree, partial[at]));
    by_lane.push_back(join_of(tree, std::move(own), shape.accumulated));
  }
  const int total = join_of(tree, std::move(by_lane), shape.joined);
  if (rest.empty()) return total;
  if (shape.tail == Tail::apart) return tree.join({total, chain_of(tree, rest)});
  int all = total;
  for (const int term : rest) all = tree.join({all, tree.leaf(term)});
  return all;
}

const char* name(Join join) {
  switch (join) {
    case Join::in_order:
      return "in order";
    case Join::in_reverse:
      return "in reverse";
    case Join::neighbours:
      return "pairwise, neighbours first";
    case Join::halves:
      return "pairwise, by halves";
  }
  return "";
}

// Powers of two up to `most`, ascending.
std::vector<int> powers(int from, int most) {
  std::vector<int> all;
  for (int one = from; one <= most; one *= 2) all.push_back(one);
  return all;
}

// What a tree shows at once of its shape: sums of the first terms that are joined with another sum, and the term that term 0 is added to.
struct Marks {
  std::set<int> blocks;
  int partner = 1;
};

Marks marks_of(const Tree& tree) {
  Marks marks;
  std::vector<int> last(tree.size());
  for (std::size_t node = 0; node < tree.size(); ++node) {
    const Tree::Node& one = tree.at(static_cast<int>(node));
    last[node] = one.term;
    for (const int child : one.children) last[node] = std::max(last[node], last[static_cast<std::size_t>(child)]);
    if (one.first != 0 || one.children.empty()) continue;
    const Tree::Node& left = tree.at(one.children[0]);
    const Tree::Node& right = tree.at(one.children[1]);
    const bool first_terms = last[static_cast<std::size_t>(one.children[0])] == left.terms - 1;
    if (first_terms && left.terms > 1 && right.terms > 1 && right.first == left.terms) marks.blocks.insert(left.terms);
    if (left.terms == 1) marks.partner = right.first;
  }
  return marks;
}

std::vector<int> strides(int partner, int most) {
  std::vector<int> all = powers(1, most);
  for (int one = 3; one <= std::min(partner, most); ++one) {
    if (partner % one == 0 && !std::has_single_bit(static_cast<unsigned>(one))) all.push_back(one);
  }
  return all;
}

// The usual orders that may be this tree, simple ones first.
std::vector<Shape> candidates(const Tree& tree) {
  const Marks marks = marks_of(tree);
  std::vector<Shape> all{{}};
  const auto vary = [&all](auto field, const auto& options) {
    std::vector<Shape> more;
    for (const Shape& shape : all) {
      for (const auto value : options(shape)) {
        more.push_back(shape);
        more.back().*field = value;
      }
    }
    all = std::move(more);
  };
  const std::vector<Join> joins{Join::in_order, Join::in_reverse, Join::neighbours, Join::halves};
  const std::vector<Join> no_joins{Join::in_order};
  const auto length = [&](const Shape& shape) { return shape.block == 0 ? tree.terms() : shape.block; };
  vary(&Shape::reversed, [](const Shape&) { return std::vector<int>{0, 1}; });
  vary(&Shape::block, [&](const Shape&) {
    std::vector<int> blocks{0};
    blocks.insert(blocks.end(), marks.blocks.begin(), marks.blocks.end());
    return blocks;
  });
  const auto most = [&](const Shape& shape) {
    return std::min(kMostPartials, static_cast<int>(std::bit_ceil(static_cast<unsigned>(length(shape)))));
  };
  vary(&Shape::lanes, [&](const Shape& shape) { return strides(marks.partner, most(shape)); });
  vary(&Shape::accumulators, [&](const Shape& shape) { return strides(marks.partner, most(shape) / shape.lanes); });
  // Sixteen partial sums are sixteen lanes, before they are one lane of sixteen accumulators.
  std::ranges::stable_sort(all, {}, &Shape::accumulators);
  // Term 0 meets the next of its partial sum first, unless that has none.
  std::erase_if(all, [&](const Shape& shape) {
    const int stride = shape.lanes * shape.accumulators;
    return !shape.reversed && stride != marks.partner && stride * 2 <= length(shape);
  });
  vary(&Shape::accumulated, [&](const Shape& shape) { return shape.accumulators > 1 ? joins : no_joins; });
  vary(&Shape::joined, [&](const Shape& shape) { return shape.lanes > 1 ? joins : no_joins; });
  vary(&Shape::tail, [&](const Shape& shape) {
    const bool has =
        length(shape) % (shape.lanes * shape.accumulators) != 0 || (shape.block > 0 && tree.terms() % shape.block != 0);
    return has ? std::vector<Tail>{Tail::in_lanes, Tail::appended, Tail::apart} : std::vector<Tail>{Tail::in_lanes};
  });
  vary(&Shape::blocks, [&](const Shape& shape) { return shape.block > 0 ? joins : no_joins; });
  return all;
}

}  // namespace

Tree tree_of(const Shape& shape, int terms) {
  Tree tree;
  if (terms == 0) return tree;
  std::vector<int> all(static_cast<std::size_t>(terms));
  std::iota(all.begin(), all.end(), 0);
  if (shape.reversed) std::ranges::reverse(all);
  const int span = shape.span == 0 ? terms : shape.span;
  std::vector<int> spans;
  for (int from = 0; from < terms; from += span) {
    const int to = std::min(from + span, terms);
    const int block = shape.block == 0 ? to - from : shape.block;
    std::vector<int> blocks;
    for (int first = from; first < to; first += block)
      blocks.push_back(lanes_of(tree, shape, {all.begin() + first, all.begin() + std::min(first + block, to)}));
    spans.push_back(join_of(tree, std::move(blocks), shape.blocks));
  }
  join_of(tree, std::move(spans), Join::in_order);
  return tree;
}

std::string Shape::words() const {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (span > 0) add(fmt::format("spans of {}, joined in order", span));
  if (block > 0) add(fmt::format("blocks of {}, joined {}", block, name(blocks)));
  const std::string inside = block > 0 || span > 0 ? " in each" : "";
  if (lanes * accumulators == 1) {
    add((reversed ? "one after the other, from the last" : "one after the other") + inside);
    return text;
  }
  add(fmt::format("{} lane{}{}", lanes, lanes == 1 ? "" : "s", inside));
  if (accumulators > 1) add(fmt::format("{} accumulators, joined {}", accumulators, name(accumulated)));
  if (lanes > 1) add(fmt::format("lanes joined {}", name(joined)));
  if (tail == Tail::appended) add("the tail appended, one after the other");
  if (tail == Tail::apart) add("the tail a sum of its own, added last");
  if (reversed) add("from the last term");
  return text;
}

std::optional<Shape> shape_of(const Tree& tree) {
  if (tree.terms() == 0) return std::nullopt;
  for (const Shape& shape : candidates(tree)) {
    if (tree_of(shape, tree.terms()) == tree) return shape;
  }
  return std::nullopt;
}

}  // namespace assay::order
