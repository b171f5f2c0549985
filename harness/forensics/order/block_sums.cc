// Blocks by blocks: the integers of a pair are summed exactly, in one sum or in some (the lanes of a register), and those of all blocks in floats.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "harness/forensics/order/block_writer.h"
#include "harness/forensics/order/kernel_sums.h"
#include "reference/block_packing.h"

namespace assay::order {
namespace {

constexpr double kCodeOfFloats = 127;  // to which a row of equal numbers is quantised

// A row of weights: of each block its scale, and the one element whose code is 1.
struct Part {
  double factor = 0;
  int element = 0;
};
using Row = std::vector<Part>;

// A kernel whose activations are all 1: a call of rows of weights.
class Blocks {
 public:
  explicit Blocks(KernelCall& kernel)
      : kernel_(kernel),
        format_(plain_dtype(kernel.call().op().from)),
        writer_(format_),
        rows_(kernel.call().params().integer("n")),
        blocks_(kernel.call().params().integer("k") / dtype_numbers(format_)),
        plain_{format_, {rows_, blocks_}, {}} {
    Array& x = kernel.input("x");
    if (is_block(x.dtype)) {
      const BlockWriter ones(x.dtype);
      for (std::int64_t b = 0; b < x.elements(); ++b) ones.write(1, kEveryElement, x, b);
    } else {
      for (std::int64_t i = 0; i < x.elements(); ++i) set_number(x, i, kCodeOfFloats);
      code_ = kCodeOfFloats;
    }
  }

  int blocks() const { return static_cast<int>(blocks_); }
  int rows() const { return static_cast<int>(rows_); }
  int elements() const { return static_cast<int>(dtype_numbers(format_)); }
  const std::shared_ptr<std::string>& differs() const { return differs_; }
  double code() const { return code_; }

  std::vector<double> run(std::span<const Row> rows) {
    plain_.bytes.assign(static_cast<std::size_t>(rows_ * blocks_) * dtype_size(format_), 0);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (std::size_t b = 0; b < rows[row].size(); ++b)
        writer_.write(rows[row][b].factor, rows[row][b].element, plain_,
                      static_cast<std::int64_t>(row) * blocks_ + static_cast<std::int64_t>(b));
    }
    Array& w = kernel_.input("w");
    w.bytes = is_packed(w.dtype) ? reference::pack_x16(format_, plain_.bytes.data(), rows_, blocks_ * dtype_numbers(format_))
                                 : plain_.bytes;
    return columns_of(kernel_.run(), rows_, *differs_);
  }

  // Of each question whether the unit is lost beside 2^15 and -2^15, all three in blocks of their own.
  struct Question {
    Part mask, negative, unit;
    int at_mask, at_negative, at_unit;
  };
  std::vector<bool> lost(std::span<const Question> questions) {
    std::vector<bool> found;
    for (std::size_t from = 0; from < questions.size(); from += static_cast<std::size_t>(rows_)) {
      std::vector<Row> rows;
      for (const Question& one : questions.subspan(from, std::min(questions.size() - from, static_cast<std::size_t>(rows_)))) {
        Row& row = rows.emplace_back(static_cast<std::size_t>(blocks_));
        row[static_cast<std::size_t>(one.at_mask)] = one.mask;
        row[static_cast<std::size_t>(one.at_negative)] = one.negative;
        row[static_cast<std::size_t>(one.at_unit)] = one.unit;
      }
      const std::vector<double> sums = run(rows);
      for (std::size_t i = 0; i < rows.size(); ++i) found.push_back(sums[i] == 0);
    }
    return found;
  }

 private:
  KernelCall& kernel_;
  reference::Format format_;
  BlockWriter writer_;
  std::int64_t rows_, blocks_;
  Array plain_;
  double code_ = 1;
  std::shared_ptr<std::string> differs_ = std::make_shared<std::string>();
};

constexpr double kMask = 0x1p15;
constexpr double kUnit = 0x1p-14;

// The blocks' sum through one element of each.
Sum through(Blocks& blocks, int element) {
  Sum sum{.terms = blocks.blocks(), .places = blocks.rows(), .least = -24, .most = 15, .scale = blocks.code()};
  sum.run = [&blocks, element](std::span<const Sum::Factors> rows, const Sum::Factors& x) {
    std::vector<Row> all;
    for (const Sum::Factors& row : rows) {
      Row& one = all.emplace_back();
      for (std::size_t b = 0; b < row.size(); ++b)
        one.push_back({row[b] * (x.empty() ? 1 : std::exp2(std::ilogb(x[b]))), element});
    }
    return blocks.run(all);
  };
  return sum;
}

// Terms a, b, c of which c joins a before b does: what c has is lost beside masks at a and b. None: no such terms.
std::optional<Triple> within(const Tree& tree) {
  for (std::size_t node = 0; node < tree.size(); ++node) {
    const auto& children = tree.at(static_cast<int>(node)).children;
    if (children.size() != 2) continue;
    for (const auto& [upper, beside] : {std::pair{children[0], children[1]}, {children[1], children[0]}}) {
      const Tree::Node& inner = tree.at(upper);
      if (inner.children.size() == 2)
        return Triple{tree.at(inner.children[0]).first, tree.at(beside).first, tree.at(inner.children[1]).first};
    }
  }
  return std::nullopt;
}

// Elements of a block by the sum that they go to: those that are lost in the same.
std::vector<std::vector<int>> lanes_of(Blocks& blocks, const Triple& in) {
  std::vector<std::vector<int>> lanes;
  std::vector<int> left;
  for (int element = 0; element < blocks.elements(); ++element) left.push_back(element);
  while (!left.empty()) {
    const int first = left.front();
    std::vector<Blocks::Question> questions;
    for (const int other : left) questions.push_back({{kMask, first}, {-kMask, first}, {kUnit, other}, in.a, in.b, in.c});
    const std::vector<bool> lost = blocks.lost(questions);
    if (!lost.front()) throw NotATree(fmt::format("element {} of a block is in another sum each time", first));
    std::vector<int> others;
    std::vector<int>& lane = lanes.emplace_back();
    for (std::size_t i = 0; i < left.size(); ++i) (lost[i] ? lane : others).push_back(left[i]);
    left = std::move(others);
  }
  return lanes;
}

// How lanes, each the sum of a part of every block, become one.
Tree tree_of_lanes(Blocks& blocks, const std::vector<std::vector<int>>& lanes) {
  const JoinedFirst joined_first = [&](std::span<const Triple> triples) {
    std::vector<Blocks::Question> questions;
    const int last = blocks.blocks() - 1;
    const auto first_of = [&](int lane) { return lanes[static_cast<std::size_t>(lane)].front(); };
    // In other blocks it must be the same, as lanes are whole sums.
    for (const auto& [i, j, k] : {Triple{0, 1, last}, Triple{last, 0, 1}}) {
      for (const Triple& one : triples)
        questions.push_back({{kMask, first_of(one.a)}, {-kMask, first_of(one.b)}, {kUnit, first_of(one.c)}, i, j, k});
    }
    std::vector<bool> lost = blocks.lost(questions);
    std::vector<bool> found;
    for (std::size_t t = 0; t < triples.size(); ++t) {
      if (lost[t] != lost[t + triples.size()])
        throw NotATree("parts of a block are joined before its sum is added to others', and no order of theirs is seen");
      found.push_back(!lost[t]);
    }
    return found;
  };
  return reveal_by_triples(static_cast<int>(lanes.size()), joined_first);
}

// Term `lanes` b + l is what lane l has of block b.
Tree with_lanes(const Tree& of_blocks, const Tree& of_lanes) {
  Tree all;
  const int lanes = of_lanes.terms();
  const auto copy = [&all](const Tree& tree, const auto& leaf) {
    std::vector<int> made(tree.size());
    for (std::size_t node = 0; node < tree.size(); ++node) {
      std::vector<int> children;
      for (const int child : tree.at(static_cast<int>(node)).children) children.push_back(made[static_cast<std::size_t>(child)]);
      made[node] = children.empty() ? leaf(tree.at(static_cast<int>(node)).term) : all.join(std::move(children));
    }
    return made.back();
  };
  copy(of_lanes, [&](int lane) { return copy(of_blocks, [&](int block) { return all.leaf(block * lanes + lane); }); });
  return all;
}

// "0-3, 32-35".
std::string runs(const std::vector<int>& elements) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < elements.size();) {
    std::size_t end = i + 1;
    while (end < elements.size() && elements[end] == elements[end - 1] + 1) ++end;
    texts.push_back(end == i + 1 ? fmt::format("{}", elements[i]) : fmt::format("{}-{}", elements[i], elements[end - 1]));
    i = end;
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

Found discover_blocks(KernelCall& kernel, std::span<const Tree> expected) {
  Blocks blocks(kernel);
  Found found = signed_sum("", {}, through(blocks, 0), blocks.differs()).discover(expected);
  const std::optional<Triple> in = within(found.tree);
  if (!in) return found;
  const auto lanes = lanes_of(blocks, *in);
  if (lanes.size() == 1) {
    found.note = fmt::format("a block's {} codes are one term: exact integers, or of no order that is seen", blocks.elements());
    return found;
  }
  const std::vector<Tree> same{found.tree};
  for (const auto& lane : lanes) {
    if (!discover(through(blocks, lane.front()), same).hypothesis)
      throw NotATree(
          fmt::format("the sum through element {} of each block has another order than that through element 0", lane.front()));
  }
  found.tree = with_lanes(found.tree, tree_of_lanes(blocks, lanes));
  found.hypothesis = false;
  found.note = fmt::format("of each block lane 0 has the elements {}, lane 1 {}", runs(lanes[0]), runs(lanes[1]));
  return found;
}

}  // namespace

KernelSum products_of_blocks(KernelCall& kernel) {
  const Params& params = kernel.call().params();
  const auto blocks = params.integer("k") / dtype_numbers(kernel.call().op().from);
  return {"blocks", static_cast<int>(blocks), {}, [&kernel](std::span<const Tree> expected) {
            return discover_blocks(kernel, expected);
          }};
}

}  // namespace assay::order
