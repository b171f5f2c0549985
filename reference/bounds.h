// The constants and formulas of docs/numerics.md: how far a correct fp32 kernel may lie from the truth.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace assay::reference {

inline constexpr double kU = 0x1p-24;               // u: relative error of one rounding to fp32
inline constexpr double kEta = 0x1p-150;            // eta: half the smallest denormal, absolute error of one rounding
inline constexpr double kExpUlps = 0.939;           // E: error of the canonical exp over every float, in ulp of the truth
inline constexpr double kExpU = 2 * kExpUlps * kU;  // the same as a relative error: an ulp is at most 2u of the value
inline constexpr double kFloatMax = 0x1.fffffep127;

// g(k) = k u / (1 - k u): |(1 + d_1) ... (1 + d_k) - 1| <= g(k) where every |d_i| <= u, k u < 1.
inline double g(std::int64_t k) {
  const double ku = static_cast<double>(k) * kU;
  return ku / (1 - ku);
}

// Distance of neighbouring floats in the binade of y; that of the denormals below 2^-126.
inline double float_ulp(double y) {
  return std::ldexp(1.0, y == 0 ? -149 : std::max(std::ilogb(y), -126) - 23);
}

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// Roundings that one term can meet on its way into the result.
// matvec: a chain of at most 64, then one addition a block: 64 + ceil(k/64), or k + 1 below 64.
inline std::int64_t matvec_depth(std::int64_t k) {
  return k < 64 ? k + 1 : 64 + ceil_div(k, 64);
}
// dot16: ceil(n/16) steps in a partial sum, 4 levels of the tree.
inline std::int64_t dot16_depth(std::int64_t n) {
  return ceil_div(n, 16) + 4;
}

// matvec: B = g(h) S + 2 k eta, S = sum |w x| over finite terms. S = 0: every product is a zero, and so is the sum.
inline double matvec_bound(double s, std::int64_t k) {
  return s == 0 ? 0 : g(matvec_depth(k)) * s + 2 * static_cast<double>(k) * kEta;
}
// Sums in fp32 may overflow on the way where S (1 + g(h)) >= FLT_MAX; then no bound holds.
inline bool may_overflow(double s, std::int64_t depth) {
  return s * (1 + g(depth)) >= kFloatMax;
}

// Blocks by blocks, N_b of them: a term meets one rounding in each later fma (two a block with a minimum), one in its product of
// scales and one in its integer's conversion; the latter two not where both scales are f16 and the integers are below 2^24.
inline std::int64_t block_dot_depth(std::int64_t blocks, bool has_min, bool half_scales) {
  return (has_min ? 2 : 1) * blocks + (half_scales ? 0 : 2);
}
// B = g(h) S_I + 2 eta (2 N_b + sum(|I1| + |I2|)), S_I = sum(|d_w d_x I1| + |dmin_w d_x I2|): a product of scales that underflows
// is multiplied by its integer. S_I = 0: every term is a zero.
inline double block_dot_bound(double s, double integers, std::int64_t blocks, std::int64_t depth) {
  return s == 0 ? 0 : g(depth) * s + 2 * kEta * (2 * static_cast<double>(blocks) + integers);
}

// linear: quantised activations by blocks, sums in any order. A block's integers may be summed in up to 16 lanes, each with a running
// sum of its own: a term meets two roundings in its scales, one in its integer, two a block in each later fma, four in the lanes' tree
// and one where a sum kept apart joins.
inline std::int64_t linear_depth(std::int64_t blocks) {
  return 2 * blocks + 8;
}
// B = g(h) S + 2 eta (32 N_b + sum(E1 + E2)), S = sum(|d_w d_x| E1 + |dmin_w d_x| E2) over magnitudes of products; each lane's fma,
// and each product of scales before its integer, may underflow.
inline double linear_bound(double s, double integers, std::int64_t blocks, std::int64_t depth) {
  return s == 0 ? 0 : g(depth) * s + 2 * kEta * (32 * static_cast<double>(blocks) + integers);
}

// exp: B = E ulp(y). Where y underflows fp64, ulp is that of the denormal floats.
inline double exp_bound(double y, double ulps = kExpUlps) {
  return ulps * float_ulp(y);
}

// add: B = u |y|. No eta: the sum of two floats is a multiple of 2^-149, so small sums are exact.
inline double add_bound(double y) {
  return kU * std::abs(y);
}

// swiglu: B = (3u + (1 - sigmoid(gate)) 2Eu)(1 + 8u)|y| + |up| (2^-121 where gate < -88, else 2^-149) + 2 eta.
inline double swiglu_bound(double gate, double up, double y) {
  if (gate == 0 || up == 0) return 0;
  const double one_minus_sigmoid = 1 / (1 + std::exp(gate));
  const double relative = (3 * kU + one_minus_sigmoid * kExpU) * (1 + 8 * kU);
  return relative * std::abs(y) + std::abs(up) * (gate < -88 ? 0x1p-121 : 0x1p-149) + 2 * kEta;
}

// rms_norm, the factor of |y|: (1+u)^4 / sqrt(1 - g(h+2)) - 1, h = ceil(n/16) + 4.
inline double rms_norm_relative(std::int64_t n) {
  return std::pow(1 + kU, 4) / std::sqrt(1 - g(dot16_depth(n) + 2)) - 1;
}
// rms_norm: B = relative |y| + 2 eta (1 + |w|).
inline double rms_norm_bound(double y, double w, std::int64_t n) {
  return rms_norm_relative(n) * std::abs(y) + 2 * kEta * (1 + std::abs(w));
}

// rope: B = g(2) S + 4 eta, S = |x0 c| + |x1 s| (second half: |x1 c| + |x0 s|).
inline double rope_bound(double s) {
  return s == 0 ? 0 : g(2) * s + 4 * kEta;
}

// rope_table: B = ulp(y)/2 + 2^-50 |y|; the sine of a zero angle is a zero.
inline double rope_table_bound(double y) {
  return y == 0 ? 0 : float_ulp(y) / 2 + 0x1p-50 * std::abs(y);
}

}  // namespace assay::reference
