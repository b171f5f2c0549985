// Sums of magnitudes are taken over finite terms (docs/numerics.md, "Classes").
#pragma once

#include <Eigen/Core>
#include <cmath>

namespace assay::reference {

// |a|, and 0 for NaN and infinities. A product of floats is finite in fp64 exactly where both factors are, so S over
// finite terms is the product of the factors' finite magnitudes.
template <class Matrix>
Matrix finite_magnitudes(const Matrix& a) {
  return a.unaryExpr([](double x) { return std::isfinite(x) ? std::abs(x) : 0.0; });
}

}  // namespace assay::reference
