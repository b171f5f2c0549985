// Calls of a sum in which a mask, 2^e and -2^e at two terms, hides what is added to one of them before they meet.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <vector>

#include "harness/forensics/order/sum.h"

namespace assay::order {

// Exponents: of a mask, and of the unit that is lost beside it and counted.
struct Masks {
  int mask = 0;
  int unit = 0;
  bool by_x = false;  // x has a part of the exponents: one sum a call
};

struct Accumulator {
  int bits = 0;           // as Found::precision
  bool at_least = false;  // likewise
};

class MaskedSum {
 public:
  using Factors = Sum::Factors;
  struct Term {
    int at;
    int exponent;
    double sign = 1;
  };

  explicit MaskedSum(const Sum& sum) : sum_(sum) {}

  std::int64_t calls() const { return calls_; }
  const Masks& masks() const { return masks_; }
  void set_masks(const Masks& masks) { masks_ = masks; }
  // The largest whose sum with its negative is 0, and the smallest that is not lost by itself. Throws NotATree.
  void find_masks(bool by_x);

  std::vector<double> call(std::span<const Factors> rows, const Factors& x);
  // One sum of few terms, of any exponents that w and x have together.
  double run_few(std::initializer_list<Term> terms);
  // `count` sums, as many in a call as there are places. fill(i, row) sets the exponents' terms of sum i.
  std::vector<double> run_all(std::size_t count, const std::function<void(std::size_t, Factors&)>& fill);
  void mask(Factors& row, int i, int j) const;

  // Whether a term so much smaller than term 0 is lost beside it, before another takes that away.
  bool is_lost(int other, int with, int distance);
  // A term beside the mask is lost where it is at most half a unit of the accumulator's last bit: the least such distance, of `other` beside term
  // 0. None: bits are no fewer than `known`.
  std::optional<Accumulator> beside(int other, int known = 0);

 private:
  Factors split(Factors& w) const;
  std::size_t size() const { return static_cast<std::size_t>(sum_.terms); }

  const Sum& sum_;
  Masks masks_;
  std::int64_t calls_ = 0;
};

}  // namespace assay::order
