#include "harness/forensics/order/sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace assay::order {
namespace {

using Factors = Sum::Factors;

constexpr int kWidest = 70;       // bits: past those of any type in hand
constexpr int kWidestAsked = 25;  // bits that what is written shows: those of f32, and one that a compensation adds
constexpr int kStep = 8;          // exponents, where a mask is looked for

// Exponents: a mask, 2^mask and -2^mask, and the unit that is lost beside it and counted.
struct Masks {
  int mask = 0;
  int unit = 0;
  int piece = 0;      // so many units may stand in a call
  bool by_x = false;  // x has a part of the exponents: one sum a call
};

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
  Discovery(const Sum& sum, std::span<const Tree> expected) : sum_(sum), expected_(expected) {}

  Found discover() {
    measure_precision();
    try {
      find_tree(false);
    } catch (const NotATree&) {
      if (sum_.x_most == 0) throw;
      find_tree(true);
    }
    if (measure_inside()) require_what_the_tree_gives();
    if (sum_.counts && masks_.piece > 0 && masks_.piece < sum_.terms)
      found_.note = fmt::format("in pieces of {} terms", masks_.piece);
    if (sum_.long_x && found_.precision == 24) found_.fused = fused();
    return std::move(found_);
  }

 private:
  struct Term {
    int at;
    int exponent;
    double sign = 1;
  };

  std::vector<double> call(std::span<const Factors> rows, const Factors& x) {
    ++found_.calls;
    std::vector<double> sums = sum_.run(rows, x);
    for (double& one : sums) one /= sum_.scale;
    return sums;
  }

  // One sum of few terms, of any exponents that w and x have together.
  double run_few(std::initializer_list<Term> terms) {
    Factors row(size());
    Factors x(size(), 1.0);
    for (const Term& term : terms) {
      const int of_w = std::clamp(term.exponent, sum_.least, sum_.most);
      row[static_cast<std::size_t>(term.at)] = term.sign * std::ldexp(1.0, of_w);
      x[static_cast<std::size_t>(term.at)] = std::ldexp(1.0, term.exponent - of_w);
    }
    return call({&row, 1}, x).front();
  }

  // `count` sums, as many in a call as there are places. fill(i, row) sets the exponents' terms of sum i.
  template <class Fill>
  std::vector<double> run_all(std::size_t count, const Fill& fill) {
    std::vector<double> sums;
    const std::size_t at_once = masks_.by_x ? 1 : static_cast<std::size_t>(sum_.places);
    for (std::size_t from = 0; from < count; from += at_once) {
      std::vector<Factors> rows(std::min(at_once, count - from), Factors(size()));
      for (std::size_t i = 0; i < rows.size(); ++i) fill(from + i, rows[i]);
      const Factors x = masks_.by_x ? split(rows.front()) : Factors{};
      const std::vector<double> some = call(rows, x);
      sums.insert(sums.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(rows.size()));
    }
    return sums;
  }

  // Leaves in w what it can hold, and gives the rest.
  Factors split(Factors& w) const {
    Factors x(size(), 1.0);
    for (std::size_t i = 0; i < w.size(); ++i) {
      if (w[i] == 0) continue;
      const int exponent = std::ilogb(w[i]);
      const int of_w = std::clamp(exponent, sum_.least, sum_.most);
      x[i] = std::ldexp(1.0, exponent - of_w);
      w[i] = std::ldexp(w[i], of_w - exponent);
    }
    return x;
  }

  // The largest whose sum with its negative is 0, and the smallest that is not lost by itself.
  void find_masks(bool by_x) {
    const int more = by_x ? sum_.x_most : 0;
    masks_ = {sum_.most + more, sum_.least - more, 0, by_x};
    const int last = sum_.terms - 1;
    while (run_few({{0, masks_.mask}, {last, masks_.mask, -1}}) != 0) {
      masks_.mask -= kStep;
      if (masks_.mask <= masks_.unit) throw NotATree("2^e and -2^e add up to 0 for no e");
    }
    const auto unseen = [&](double sum) { return sum_.counts ? sum != std::ldexp(1.0, masks_.unit) : !(sum > 0); };
    while (unseen(run_few({{0, masks_.unit}}))) {
      masks_.unit += kStep;
      if (masks_.unit >= masks_.mask) throw NotATree("a term alone does not give itself");
    }
  }

  // A term beside the mask is lost where it is at most half a unit of the accumulator's last bit: the least such distance.
  void measure_precision() {
    found_.precision = 0;
    if (sum_.terms < 3) return;
    find_masks(sum_.x_most > 0);
    measure_beside(1);
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
    const Masks kept = masks_;
    find_masks(sum_.x_most > 0);
    bool alike = true;
    const std::vector<int> partners = partners_of_first();
    if (partners.size() > 1) {
      for (const int partner : {partners.front(), partners[partners.size() - 2]}) {
        const int precision = found_.precision;
        const bool at_least = found_.at_least;
        if (partner > 1) measure_beside(partner, at_least ? 0 : precision);
        alike = alike && (found_.at_least || found_.precision == precision);
        if (found_.precision >= precision) found_.precision = precision, found_.at_least = at_least;
      }
      // Where these were lost on the way to a later sum, the first may be wider.
      if (!found_.at_least) alike = alike && is_lost(partners[0], partners[1], found_.precision + 1);
    }
    masks_ = kept;
    return alike;
  }

  // Whether a term so much smaller is lost beside term 0, before another takes that away. Beside one of the other sign, a power of two, bits are
  // half as large below it.
  bool is_lost(int other, int with, int distance) {
    const auto lost_with = [&](double sign) {
      return run_few({{0, masks_.mask}, {other, masks_.mask - distance, sign}, {with, masks_.mask, -1}}) == 0;
    };
    return lost_with(1) || lost_with(-1);
  }

  // `known`: bits that another sum has; where this one has no fewer, no more is asked.
  void measure_beside(int other, int known = 0) {
    const int deepest = std::min(kWidest, masks_.mask - masks_.unit);
    const auto lost = [&](int with, int distance) { return is_lost(other, with, distance); };
    // The other must be added before 0 and its negative meet: where they do so late.
    int with = 0;
    for (int at = sum_.terms - 1; at > 0 && with == 0; --at) {
      if (at != other && lost(at, deepest)) with = at;
    }
    if (with != 0 && known > 1 && !lost(with, known - 1)) return;
    int distance = with == 0 ? deepest : 1;
    while (distance < deepest && !lost(with, distance)) ++distance;
    // What is no power of two is lost a bit later.
    const int odd = std::has_single_bit(static_cast<std::uint64_t>(sum_.scale)) ? 0 : 1;
    found_.at_least = with == 0 || (distance == deepest && !lost(with, distance));
    found_.precision = distance - (found_.at_least ? 0 : odd);
  }

  void find_tree(bool by_x) {
    if (sum_.terms < 3) {
      found_.tree = expected_.front();
      found_.hypothesis = true;
      return;
    }
    find_masks(by_x);
    // Beside the mask all units together are lost: they are less than half of its last bit, with one to spare for ties. The accumulator counts
    // them, too.
    const int room = masks_.mask - masks_.unit - found_.precision - 2;
    if (room < 1)
      throw NotATree(fmt::format("no term is lost beside one 2^{} times as large: compensated, or wider than that",
                                 masks_.mask - masks_.unit));
    masks_.piece = std::min({sum_.terms, 1 << std::min(room, 24), 1 << std::min(found_.precision, 24)});
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
    if (!exact || found_.precision == 0 || found_.precision > kWidestAsked) return;
    if (found_.precision == kWidestAsked && !found_.at_least)
      throw NotATree(fmt::format("it keeps {} bits, one more than f32 has: compensated", found_.precision));
    const double large = 0x1p14;
    const double small = 0.75 * std::ldexp(large, -found_.precision);
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
        values[node] = rounded(value(0) + value(1), found_.precision);
      }
    }
    const double got = call({&row, 1}, {}).front();
    if (got == rounded(values.back(), 24)) return;
    throw NotATree(fmt::format("{} and {} times {} add up to {}; in the order that is seen they would to {}: compensated", large,
                               sum_.terms - 1, small, got, values.back()));
  }

  void set_masks(Factors& row, int i, int j) const {
    row[static_cast<std::size_t>(i)] = std::ldexp(1.0, masks_.mask);
    row[static_cast<std::size_t>(j)] = -std::ldexp(1.0, masks_.mask);
  }

  std::vector<int> below(std::span<const Pair> pairs) {
    std::vector<double> outside(pairs.size(), 0.0);
    for (int first = 0; first < sum_.terms; first += masks_.piece) {
      const std::vector<double> sums = run_all(pairs.size(), [&](std::size_t p, Factors& row) {
        const int end = std::min(first + masks_.piece, sum_.terms);
        std::fill(row.begin() + first, row.begin() + end, std::ldexp(1.0, masks_.unit));
        set_masks(row, pairs[p].first, pairs[p].second);
      });
      for (std::size_t p = 0; p < pairs.size(); ++p) outside[p] += std::ldexp(sums[p], -masks_.unit);
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
    const std::vector<double> sums = run_all(triples.size(), [&](std::size_t t, Factors& row) {
      set_masks(row, triples[t].a, triples[t].b);
      row[static_cast<std::size_t>(triples[t].c)] = std::ldexp(1.0, masks_.unit);
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
        const double rest = call({&row, 1}, others).front();
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
    return call({&row, 1}, x).front() != 0;
  }

  std::size_t size() const { return static_cast<std::size_t>(sum_.terms); }

  const Sum& sum_;
  std::span<const Tree> expected_;
  Found found_;
  Masks masks_;
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
