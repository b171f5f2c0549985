#include "harness/forensics/order/sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "harness/forensics/order/masked_sum.h"

namespace assay::order {
namespace {

using Factors = Sum::Factors;

constexpr int kWidestAsked = 25;  // bits that what is written shows: those of f32, and one that a compensation adds

// To so many bits.
double rounded(double value, int bits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int last = std::ilogb(value) + 1 - bits;
  return std::ldexp(std::nearbyint(std::ldexp(value, -last)), last);
}

// A parent stands behind its children.
std::size_t deepest_leaf(const Tree& tree) {
  std::vector<int> depth(tree.size());
  std::size_t deepest = 0;
  for (std::size_t node = tree.size(); node-- > 0;) {
    for (const int child : tree.at(static_cast<int>(node)).children) depth[static_cast<std::size_t>(child)] = depth[node] + 1;
    if (depth[node] > depth[deepest]) deepest = node;
  }
  return deepest;
}

class Discovery {
 public:
  Discovery(const Sum& sum, std::span<const Tree> expected) : sum_(sum), expected_(expected), masked_(sum) {}

  Found discover() {
    measure_precision();
    try {
      find_tree(false);
    } catch (const NotATree&) {
      if (sum_.x_most == 0) throw;
      find_tree(true);
    }
    if (measure_inside()) require_what_the_tree_gives();
    if (sum_.counts && piece_ > 0 && piece_ < sum_.terms) found_.note = fmt::format("in pieces of {} terms", piece_);
    if (sum_.long_x && accumulator_.bits == 24) found_.fused = fused();
    found_.precision = accumulator_.bits;
    found_.at_least = accumulator_.at_least;
    found_.calls = masked_.calls();
    return std::move(found_);
  }

 private:
  void measure_precision() {
    if (sum_.terms < 3) return;
    masked_.find_masks(sum_.x_most > 0);
    accumulator_ = masked_.beside(1).value_or(Accumulator{});
  }

  // Of each sum that term 0 comes to, the first term of what it is added to, from the leaf on.
  std::vector<int> partners_of_first() const {
    std::vector<int> partners;
    const Tree& tree = found_.tree;
    for (std::size_t node = 0; node < tree.size(); ++node) {
      const Tree::Node& one = tree.at(static_cast<int>(node));
      if (one.children.size() != 2 || one.first != 0) continue;
      const Tree::Node& left = tree.at(one.children[0]);
      partners.push_back(left.first == 0 ? tree.at(one.children[1]).first : left.first);
    }
    return partners;
  }

  // Terms 0 and 1 may meet late, as two lanes do, and sums of blocks be kept in another type than what is inside of them: so the first sum with
  // term 0 is asked, and the last behind which another term comes. The narrowest counts. Whether all are of one type.
  bool measure_inside() {
    if (sum_.terms < 3) return true;
    const Masks kept = masked_.masks();
    masked_.find_masks(sum_.x_most > 0);
    bool alike = true;
    const std::vector<int> partners = partners_of_first();
    if (partners.size() > 1) {
      for (const int partner : {partners.front(), partners[partners.size() - 2]}) {
        const Accumulator before = accumulator_;
        const int known = before.at_least ? 0 : before.bits;
        const Accumulator now = partner > 1 ? masked_.beside(partner, known).value_or(before) : before;
        alike = alike && (now.at_least || now.bits == before.bits);
        if (now.bits < before.bits) accumulator_ = now;
      }
      // Where these were lost on the way to a later sum, the first may be wider.
      if (!accumulator_.at_least) alike = alike && masked_.is_lost(partners[0], partners[1], accumulator_.bits + 1);
    }
    masked_.set_masks(kept);
    return alike;
  }

  void find_tree(bool by_x) {
    if (sum_.terms < 3) {
      found_.tree = expected_.front();
      found_.hypothesis = true;
      return;
    }
    masked_.find_masks(by_x);
    const Masks& masks = masked_.masks();
    // Beside the mask all units together are lost: they are less than half of its last bit, with one to spare for ties. The accumulator counts
    // them, too.
    const int room = masks.mask - masks.unit - accumulator_.bits - 2;
    if (room < 1)
      throw NotATree(fmt::format("no term is lost beside one 2^{} times as large: compensated, or wider than that",
                                 masks.mask - masks.unit));
    piece_ = std::min({sum_.terms, 1 << std::min(room, 24), 1 << std::min(accumulator_.bits, 24)});
    const JoinedFirst joined_first = [this](std::span<const Triple> triples) { return joined(triples); };
    const auto same = std::ranges::find_if(expected_, [&](const Tree& tree) { return is_tree(tree, joined_first); });
    found_.hypothesis = same != expected_.end();
    if (found_.hypothesis) {
      found_.tree = *same;
    } else if (sum_.counts) {
      found_.tree = reveal(sum_.terms, [this](std::span<const Pair> pairs) { return below(pairs); });
    } else {
      found_.tree = reveal_by_triples(sum_.terms, joined_first);
    }
  }

  // A number and many of less than half of its last place, which a tree loses one by one, and a compensated sum keeps.
  void require_what_the_tree_gives() {
    const bool exact = sum_.counts && sum_.exact && sum_.scale == 1;
    if (!exact || accumulator_.bits == 0 || accumulator_.bits > kWidestAsked) return;
    if (accumulator_.bits == kWidestAsked && !accumulator_.at_least)
      throw NotATree(fmt::format("it keeps {} bits, one more than f32 has: compensated", accumulator_.bits));
    const double large = 0x1p14;
    const double small = 0.75 * std::ldexp(large, -accumulator_.bits);
    Factors row(size(), small);
    const Tree& tree = found_.tree;
    const std::size_t deepest = deepest_leaf(tree);  // of whose sum the most others are lost one by one
    std::vector<double> values(tree.size());
    for (std::size_t node = 0; node < tree.size(); ++node) {
      const Tree::Node& one = tree.at(static_cast<int>(node));
      const auto value = [&](std::size_t child) { return values[static_cast<std::size_t>(one.children[child])]; };
      if (one.children.size() > 2) return;
      if (one.children.empty()) {
        values[node] = row[static_cast<std::size_t>(one.term)] = node == deepest ? large : small;
      } else {
        values[node] = rounded(value(0) + value(1), accumulator_.bits);
      }
    }
    const double got = masked_.call({&row, 1}, {}).front();
    if (got == rounded(values.back(), 24)) return;
    throw NotATree(fmt::format("{} and {} times {} add up to {}; in the order that is seen they would to {}: compensated", large,
                               sum_.terms - 1, small, got, values.back()));
  }

  std::vector<int> below(std::span<const Pair> pairs) {
    std::vector<double> outside(pairs.size(), 0.0);
    for (int first = 0; first < sum_.terms; first += piece_) {
      const std::vector<double> sums = masked_.run_all(pairs.size(), [&](std::size_t p, Factors& row) {
        const int end = std::min(first + piece_, sum_.terms);
        std::fill(row.begin() + first, row.begin() + end, std::ldexp(1.0, masked_.masks().unit));
        masked_.mask(row, pairs[p].first, pairs[p].second);
      });
      for (std::size_t p = 0; p < pairs.size(); ++p) outside[p] += std::ldexp(sums[p], -masked_.masks().unit);
    }
    std::vector<int> inside;
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const double size = sum_.terms - outside[p];
      if (!(size >= 2) || size > sum_.terms || size != std::nearbyint(size))
        throw NotATree(fmt::format("with the mask at terms {} and {}, {} of {} ones remain", pairs[p].first, pairs[p].second,
                                   outside[p], sum_.terms - 2));
      inside.push_back(static_cast<int>(size));
    }
    return inside;
  }

  // What c has is lost where it joins a or b before they meet.
  std::vector<bool> joined(std::span<const Triple> triples) {
    const std::vector<double> sums = masked_.run_all(triples.size(), [&](std::size_t t, Factors& row) {
      masked_.mask(row, triples[t].a, triples[t].b);
      row[static_cast<std::size_t>(triples[t].c)] = std::ldexp(1.0, masked_.masks().unit);
    });
    std::vector<bool> found;
    for (const double one : sums) found.push_back(one != 0);
    return found;
  }

  // (1 + 2^-7)(1 + 2^-23) = 1 + 2^-7 + 2^-23 + 2^-30 loses its last bit where the product is rounded: what is left when the others are taken
  // from it tells. They must be there before: at a node that joins a term with a sum.
  std::optional<bool> fused() {
    const double w = 1 + 0x1p-7;
    const double x = 1 + 0x1p-23;
    const Tree& tree = found_.tree;
    for (std::size_t node = 0; node < tree.size(); ++node) {
      const auto& children = tree.at(static_cast<int>(node)).children;
      if (children.size() != 2) continue;
      for (const auto& [leaf, sum] : {std::pair{children[0], children[1]}, {children[1], children[0]}}) {
        if (tree.at(leaf).terms != 1 || tree.at(sum).terms < 2) continue;
        Factors row(size());
        Factors others(size(), 1.0);
        const auto one = static_cast<std::size_t>(tree.at(leaf).term);
        const auto before = static_cast<std::size_t>(tree.at(sum).first);
        row[one] = std::ldexp(w, sum_.lifted);
        others[one] = x;
        row[before] = -std::ldexp(1.0, sum_.lifted);
        others[before] = w + 0x1p-23;
        const double rest = masked_.call({&row, 1}, others).front();
        if (rest == 0 && !keeps_x(one, before)) return std::nullopt;
        return rest != 0;
      }
    }
    return std::nullopt;
  }

  // Not so where x is rounded to a narrower type first.
  bool keeps_x(std::size_t one, std::size_t other) {
    Factors row(size());
    Factors x(size(), 1.0);
    row[one] = std::ldexp(1.0, sum_.lifted);
    x[one] = 1 + 0x1p-23;
    row[other] = -row[one];
    return masked_.call({&row, 1}, x).front() != 0;
  }

  std::size_t size() const { return static_cast<std::size_t>(sum_.terms); }

  const Sum& sum_;
  std::span<const Tree> expected_;
  MaskedSum masked_;
  Accumulator accumulator_;
  int piece_ = 0;  // so many units may stand in a call
  Found found_;
};

}  // namespace

Found discover(const Sum& sum, std::span<const Tree> expected) {
  return Discovery(sum, expected).discover();
}

std::string accumulator_name(const Found& found) {
  static const std::map<int, std::string> kNames{{8, "bf16"}, {11, "f16"}, {24, "f32"}, {53, "f64"}, {64, "x87 extended"}};
  if (found.precision == 0) return "not observable";
  if (found.at_least) return fmt::format("at least {} bits", found.precision);
  const auto name = kNames.find(found.precision);
  return name != kNames.end() ? name->second : fmt::format("{} bits", found.precision);
}

}  // namespace assay::order
