// Twenty sums as people write them. The type of a term is left open: of floats each is a kernel, of Traced its tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

#include "harness/forensics/order/tree.h"

namespace assay::order {

// A number that notes what it is the sum of. Without a node it is the 0 that sums begin with.
struct Traced {
  Tree* tree = nullptr;
  int node = -1;
  friend Traced operator+(const Traced& a, const Traced& b) {
    if (a.node < 0) return b;
    return b.node < 0 ? a : Traced{a.tree, a.tree->join({a.node, b.node})};
  }
};

namespace sums {

template <class T>
T in_order(std::span<const T> t) {
  T sum{};
  for (const T& one : t) sum = sum + one;
  return sum;
}
template <class T>
T in_reverse(std::span<const T> t) {
  T sum{};
  for (std::size_t i = t.size(); i-- > 0;) sum = sum + t[i];
  return sum;
}
template <class T>
T recursive(std::span<const T> t) {
  if (t.size() < 2) return t.empty() ? T{} : t[0];
  return recursive(t.first(t.size() / 2)) + recursive(t.subspan(t.size() / 2));
}
template <class T>
T level_by_level(std::span<const T> t) {
  std::vector<T> level(t.begin(), t.end());
  while (level.size() > 1) {
    std::vector<T> next;
    for (std::size_t i = 0; i < level.size(); i += 2) next.push_back(i + 1 < level.size() ? level[i] + level[i + 1] : level[i]);
    level = next;
  }
  return level.empty() ? T{} : level[0];
}

// kLanes sums of whole strides; `rest` begins behind them.
template <std::size_t kLanes, class T>
std::vector<T> lanes(std::span<const T> t, std::size_t& rest) {
  std::vector<T> sums(kLanes);
  rest = t.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < rest; ++i) sums[i % kLanes] = sums[i % kLanes] + t[i];
  return sums;
}
template <class T>
T by_halves(std::vector<T> sums) {
  for (std::size_t half = sums.size() / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sums[i] = sums[i] + sums[i + half];
  }
  return sums[0];
}
template <class T>
T by_neighbours(const std::vector<T>& sums) {
  return level_by_level(std::span<const T>(sums));
}
// As a register with a masked load has it.
template <std::size_t kLanes, class T>
T masked(std::span<const T> t) {
  std::vector<T> all(t.begin(), t.end());
  all.resize((t.size() + kLanes - 1) / kLanes * kLanes);
  std::size_t rest = 0;
  return by_halves(lanes<kLanes>(std::span<const T>(all), rest));
}
template <class T>
T eight_in_order_then_tail(std::span<const T> t) {
  std::size_t rest = 0;
  T sum = in_order(std::span<const T>(lanes<8>(t, rest)));
  for (; rest < t.size(); ++rest) sum = sum + t[rest];
  return sum;
}
template <class T>
T eight_by_neighbours_then_tail(std::span<const T> t) {
  std::size_t rest = 0;
  T sum = by_neighbours(lanes<8>(t, rest));
  for (; rest < t.size(); ++rest) sum = sum + t[rest];
  return sum;
}
template <class T>
T sixteen_and_tail_apart(std::span<const T> t) {
  std::size_t rest = 0;
  const T sum = by_halves(lanes<16>(t, rest));
  return sum + in_order(t.subspan(rest));
}
template <class T>
T four_registers(std::span<const T> t) {
  std::size_t rest = 0;
  const std::vector<T> all = lanes<32>(t, rest);
  std::vector<T> one(8);
  for (std::size_t i = 0; i < 8; ++i) one[i] = (all[i] + all[i + 8]) + (all[i + 16] + all[i + 24]);
  T sum = by_halves(one);
  for (; rest < t.size(); ++rest) sum = sum + t[rest];
  return sum;
}
template <class T>
T two_registers(std::span<const T> t) {
  std::size_t rest = 0;
  const std::vector<T> all = lanes<32>(t, rest);
  std::vector<T> one(16);
  for (std::size_t i = 0; i < 16; ++i) one[i] = all[i] + all[i + 16];
  T sum = by_halves(one);
  for (; rest < t.size(); ++rest) sum = sum + t[rest];
  return sum;
}
template <std::size_t kBlock, class T, class Inner>
T in_blocks(std::span<const T> t, const Inner& inner) {
  T sum{};
  for (std::size_t i = 0; i < t.size(); i += kBlock) sum = sum + inner(t.subspan(i, std::min(kBlock, t.size() - i)));
  return sum;
}
template <class T>
T blocks_of_64(std::span<const T> t) {
  return in_blocks<64>(t, in_order<T>);
}
template <class T>
T blocks_of_32_in_8_lanes(std::span<const T> t) {
  return in_blocks<32>(t, masked<8, T>);
}
template <class T>
T blocks_in_pairs(std::span<const T> t) {
  std::vector<T> sums;
  for (std::size_t i = 0; i < t.size(); i += 16) sums.push_back(in_order(t.subspan(i, std::min<std::size_t>(16, t.size() - i))));
  return by_neighbours(sums);
}
// Halves down to 128 terms, there eight sums.
template <class T>
T pairwise_above_128(std::span<const T> t) {
  if (t.size() <= 128) return eight_by_neighbours_then_tail(t);
  const std::size_t half = t.size() / 2 - t.size() / 2 % 8;
  return pairwise_above_128(t.first(half)) + pairwise_above_128(t.subspan(half));
}
template <class T>
T reversed_tail(std::span<const T> t) {
  std::size_t rest = 0;
  T sum = by_halves(lanes<8>(t, rest));
  for (std::size_t i = t.size(); i-- > rest;) sum = sum + t[i];
  return sum;
}
// Up to a whole stride first, as kernels do that peel off what is not aligned.
template <class T>
T peeled_head(std::span<const T> t) {
  const std::size_t head = t.size() % 8;
  T sum = in_order(t.first(head));
  std::size_t rest = 0;
  return sum + by_halves(lanes<8>(t.subspan(head), rest));
}

}  // namespace sums

struct KnownSum {
  const char* name;
  float (*kernel)(std::span<const float>);
  Traced (*traced)(std::span<const Traced>);
};

#define ASSAY_KNOWN_SUM(...) \
  { #__VA_ARGS__, sums::__VA_ARGS__<float>, sums::__VA_ARGS__<Traced> }
#define ASSAY_KNOWN_LANES(n) \
  { "masked " #n, sums::masked<n, float>, sums::masked<n, Traced> }
inline constexpr KnownSum kKnownSums[] = {
    ASSAY_KNOWN_SUM(in_order),
    ASSAY_KNOWN_SUM(in_reverse),
    ASSAY_KNOWN_SUM(recursive),
    ASSAY_KNOWN_SUM(level_by_level),
    ASSAY_KNOWN_LANES(4),
    ASSAY_KNOWN_LANES(8),
    ASSAY_KNOWN_LANES(16),
    ASSAY_KNOWN_LANES(32),
    ASSAY_KNOWN_LANES(64),
    ASSAY_KNOWN_SUM(eight_in_order_then_tail),
    ASSAY_KNOWN_SUM(eight_by_neighbours_then_tail),
    ASSAY_KNOWN_SUM(sixteen_and_tail_apart),
    ASSAY_KNOWN_SUM(four_registers),
    ASSAY_KNOWN_SUM(two_registers),
    ASSAY_KNOWN_SUM(blocks_of_64),
    ASSAY_KNOWN_SUM(blocks_of_32_in_8_lanes),
    ASSAY_KNOWN_SUM(blocks_in_pairs),
    ASSAY_KNOWN_SUM(pairwise_above_128),
    ASSAY_KNOWN_SUM(reversed_tail),
    ASSAY_KNOWN_SUM(peeled_head),
};
static_assert(std::size(kKnownSums) == 20);

inline Tree known_tree(const KnownSum& sum, int terms) {
  Tree tree;
  std::vector<Traced> all;
  for (int i = 0; i < terms; ++i) all.push_back({&tree, tree.leaf(i)});
  sum.traced(all);
  return tree;
}

}  // namespace assay::order
