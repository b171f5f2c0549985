#include "reference/rms_norm.h"

#include <Eigen/Core>
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

void norm_row(const RmsNormArgs& args, std::int64_t row, Expected& y) {
  const ConstRow x_f32(args.x + row * args.x_stride, args.n);
  const Eigen::ArrayXd x = x_f32.cast<double>();
  // Squares of floats are exact in fp64 and their sum is positive: n 2^-53 is 2^-24 of the bound's n/32 u.
  const double sum = x.square().sum();
  const double mean = sum / static_cast<double>(args.n);
  const double r = 1 / std::sqrt(mean + static_cast<double>(args.eps));
  const bool overflows = std::isfinite(sum) && may_overflow(sum, dot16_depth(args.n));
  for (std::int64_t i = 0; i < args.n; ++i) {
    const double w = static_cast<double>(args.w[i]);
    const double normalised = x[i] * r;  // inf * 0 is NaN: an infinity in the row makes its own place NaN, the others 0
    const double truth = normalised * w;
    const bool is_zero = x[i] == 0 || w == 0 || r == 0;
    const std::int64_t index = row * args.n + i;
    set_bounded(y, index, truth, is_zero ? 0 : rms_norm_bound(truth, w, args.n));
    const bool vanishes = std::isinf(w) && normalised != 0 && std::abs(normalised) <= 2 * kEta;  // 0 * inf in fp32
    if (overflows || vanishes) set_bits_only(y, index);
  }
}

}  // namespace

void rms_norm(const RmsNormArgs& args, Expected& y) {
  resize_bounded(y, args.rows * args.n);
  for (std::int64_t row = 0; row < args.rows && args.n > 0; ++row) norm_row(args, row, y);
}

}  // namespace assay::reference
