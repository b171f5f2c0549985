// What the formulas have in common; not for who calls them.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/forensics/audit/formula.h"

namespace assay::formula {

inline constexpr double kOwn = 0x1p-52;    // our own fp64 evaluation: twice its unit roundoff
inline constexpr double kExpUlps = 4;      // of other libraries' exponentials; the best known vector ones stay below 2
inline constexpr double kTiny = 0x1p-140;  // what underflow may take from a sum in fp32

// n roundings of relative size u.
inline double growth(double n, double u) {
  return n * u / (1 - n * u);
}

// A bound on sums of n terms in any order, our own evaluation's error included.
inline double sum_growth(double n, const Recipe& recipe) {
  return growth(n, recipe.u) + growth(n, kOwn);
}

// A matrix or an array, rounded as one stretch of activations.
template <class Dense>
Dense rounded(const Dense& x, ActivationRounding to) {
  if (to == ActivationRounding::none) return x;
  const std::vector<double> out = round_activations(to, {x.data(), static_cast<std::size_t>(x.size())});
  return Eigen::Map<const Dense>(out.data(), x.rows(), x.cols());
}

// The result as it is stored.
void store(Truth& truth, const Recipe& recipe);

Truth attention(const SiteCall& call, const Recipe& recipe, Team& team);
Truth gated(const SiteCall& call, const Recipe& recipe);

}  // namespace assay::formula
