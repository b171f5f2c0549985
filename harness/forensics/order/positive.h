// A sum of terms that are not negative, inside a kernel whose result is a function of it: a norm's squares, a softmax's exponentials.
//
// Masks of two signs there are none. But a large term swallows two others, each of just under half a unit in its last place, one by one, and
// not where they are joined first: so a call tells of three terms which two come first.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "harness/forensics/order/sum.h"

namespace assay::order {

struct Positive {
  struct Term {
    int at;
    double value;
  };
  using Few = std::vector<Term>;  // the terms that are not 0

  int terms = 0;
  int places = 1;  // sums that a call has
  // Of each few what the kernel gives at its first term. Throws std::runtime_error where the call fails.
  std::function<std::vector<double>(std::span<const Few>)> run = {};
  // Values, exact in so many bits, that the large term may have: one is looked for by which the result shows a unit in the sum's last place.
  std::function<std::vector<double>(int digits)> large = {};
  // The value nearest to this one that the large term can have, if it is within a 16th of a unit in its last place; else 0.
  std::function<double(double value, int digits)> near = {};
};

// The first of `expected` that the tree is, else the tree from the beginning. Throws NotATree, NotObservable.
Found discover(const Positive& sum, std::span<const Tree> expected);

}  // namespace assay::order
