#include "reference/rms_norm.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "reference/bounds.h"
#include "reference/outputs.h"

namespace assay::reference {

const Contract kRmsNormContract{
    "eps a normal float > 0, n <= 2^24; only bits where (sum x^2)(1 + g(h)) >= FLT_MAX, or w is infinite and x r underflows",
    Exactness::bounded,
    "((1+u)^4 / sqrt(1 - g(h+2)) - 1)|y| + 2 eta (1 + |w|), h = ceil(n/16) + 4; 0 where x or w is 0, or x has an infinity",
    BiasUnit::row,
    false,
    true};

namespace {

using ConstRow = Eigen::Map<const Eigen::ArrayXf>;

// In declared arithmetic: how far the mean plus eps may be off, as a factor.
double mean_error(const RmsNormArgs& args, double mean, const Arithmetic& how) {
  const Number& acc = how.sums();
  const auto additions = static_cast<double>(how.order.additions(args.n, dot16_depth(args.n) - 1));
  const double growth = acc.growth(additions + 1);
  const double underflow = acc.eta() + (how.flush ? 2 * acc.normal() + kF32.normal() : 0);  // of a square, so of the mean
  const double factor = growth + (1 + growth) * underflow / (mean + static_cast<double>(args.eps));
  return 1 - (1 - factor) * (1 - g(2));
}

// Beside the own bound: its last four roundings, of which the root and its reciprocal may be a rough one.
void set_declared(double x, double w, double truth, double error, std::int64_t index, const Arithmetic& how, Expected& y) {
  const double relative = (1 + how.rsqrt_u()) * (1 + kU) * (1 + kU) / std::sqrt(1 - error) - 1;
  double bound = relative * std::abs(truth) + (2 * kEta + (how.flush ? kF32.normal() : 0)) * (1 + std::abs(w));
  if (how.flush && std::min(std::abs(x), std::abs(w)) < kF32.normal()) bound += std::abs(truth);
  bound = written_bound(how, truth, bound);
  set_bounded(y, index, truth, bound);
  if (!(error < 0.5) || written_may_overflow(how, truth, bound)) set_bits_only(y, index);
}

void norm_row(const RmsNormArgs& args, std::int64_t row, const Arithmetic& how, Expected& y) {
  const ConstRow x_f32(args.x + row * args.x_stride, args.n);
  const Eigen::ArrayXd x = x_f32.cast<double>();
  // Squares of floats are exact in fp64 and their sum is positive: n 2^-53 is 2^-24 of the bound's n/32 u.
  const double sum = x.square().sum();
  const double mean = sum / static_cast<double>(args.n);
  const double r = 1 / std::sqrt(mean + static_cast<double>(args.eps));
  const double error = how.own() ? 0 : mean_error(args, mean, how);
  const bool overflows = std::isfinite(sum) && (how.own() ? may_overflow(sum, dot16_depth(args.n))
                                                          : 2 * sum >= std::min(how.sums().largest(), kFloatMax));
  for (std::int64_t i = 0; i < args.n; ++i) {
    const double w = static_cast<double>(args.w[i]);
    const double normalised = x[i] * r;  // inf * 0 is NaN: an infinity in the row makes its own place NaN, the others 0
    const double truth = normalised * w;
    const bool is_zero = x[i] == 0 || w == 0 || r == 0;
    const std::int64_t index = row * args.n + i;
    if (how.own() || is_zero || !std::isfinite(truth)) {
      set_bounded(y, index, truth, is_zero ? 0 : rms_norm_bound(truth, w, args.n));
    } else {
      set_declared(x[i], w, truth, error, index, how, y);
    }
    const bool vanishes = std::isinf(w) && normalised != 0 && std::abs(normalised) <= 2 * kEta;  // 0 * inf in fp32
    if (overflows || vanishes) set_bits_only(y, index, overflows ? 1 : kNotFinite);
  }
}

}  // namespace

void rms_norm(const RmsNormArgs& args, Expected& y) {
  declared_rms_norm(args, {}, y);
}

void declared_rms_norm(const RmsNormArgs& args, const Arithmetic& how, Expected& y) {
  resize_bounded(y, args.rows * args.n);
  for (std::int64_t row = 0; row < args.rows && args.n > 0; ++row) norm_row(args, row, how, y);
}

}  // namespace assay::reference
