#include "reference/softmax.h"

#include <Eigen/Core>
#include <cmath>
#include <limits>

#include "reference/bounds.h"
#include "reference/outputs.h"

namespace assay::reference {

const Contract kSoftmaxContract{
    "every f32",
    Exactness::bounded,
    "P_i (1+u) / ((1 - sum(P - y))(1 - G)) - y_i + 2^-147; P_i = e^(x_i - max + d_i) / L, d_i = u |x_i - max| + 2Eu, "
    "L = sum e^(x_i - max), G = g(ceil(n/16) + 4); 0 where x is -inf",
    BiasUnit::row,
    false,
    true};

namespace {

// A NaN or +inf anywhere, or nothing but -inf: the sum is NaN, and with it every output of the row.
void set_nan_row(std::int64_t first, std::int64_t n, Expected& y) {
  for (std::int64_t i = 0; i < n; ++i) set_bounded(y, first + i, std::numeric_limits<double>::quiet_NaN(), 0);
}

// Additions that a term of the sum meets, of a narrower one its own rounding too, as a factor.
double sum_growth(std::int64_t n, const Arithmetic& how) {
  if (how.own()) return g(dot16_depth(n));
  const bool narrow = how.sums().digits < kF32.digits;
  return how.sums().growth(static_cast<double>(how.order.additions(n, dot16_depth(n)) + (narrow ? 1 : 0)));
}

void softmax_row(const SoftmaxArgs& args, std::int64_t row, const Arithmetic& how, Expected& y) {
  const std::int64_t first = row * args.n;
  const Eigen::ArrayXd x = Eigen::Map<const Eigen::ArrayXf>(args.x + row * args.x_stride, args.n).cast<double>();
  const double max = x.isNaN().any() ? std::numeric_limits<double>::quiet_NaN() : x.maxCoeff();
  if (!std::isfinite(max)) return set_nan_row(first, args.n, y);

  Eigen::ArrayXd e(args.n);       // e^(x_i - max)
  Eigen::ArrayXd raised(args.n);  // e^(x_i - max + d_i): d_i covers the rounding of x_i - max and exp's own error
  for (std::int64_t i = 0; i < args.n; ++i) {
    const double difference = x[i] - max;
    e[i] = std::exp(difference);
    raised[i] = std::isinf(difference) ? 0 : std::exp(difference + kU * std::abs(difference) + how.exp_u());
  }
  // sum(P - y) is how much smaller than L the kernel's sum may be through its e_i, G through its additions.
  const double total = e.sum();
  const double underflow = how.own() ? 0x1p-147 : how.exp_underflow();
  const Number& acc = how.sums();
  const double lost = how.own() ? 0 : static_cast<double>(args.n) * (underflow + acc.eta() + (how.flush ? acc.normal() : 0));
  const double excess = ((raised - e).sum() + lost) / total;
  const double growth = sum_growth(args.n, how);
  const double shrink = (1 - excess) * (1 - growth);
  const bool is_void = !how.own() && (!(shrink > 0.5) || total * (1 + excess) * (1 + growth) >= acc.largest());
  for (std::int64_t i = 0; i < args.n; ++i) {
    const double truth = e[i] / total;
    const double bound = written_bound(how, truth, raised[i] / total * (1 + kU) / shrink - truth + underflow);
    set_bounded(y, first + i, truth, std::isinf(x[i]) ? 0 : bound);
    if (is_void && !std::isinf(x[i])) set_bits_only(y, first + i);
  }
}

}  // namespace

void softmax(const SoftmaxArgs& args, Expected& y) {
  declared_softmax(args, {}, y);
}

void declared_softmax(const SoftmaxArgs& args, const Arithmetic& how, Expected& y) {
  resize_bounded(y, args.rows * args.n);
  for (std::int64_t row = 0; row < args.rows && args.n > 0; ++row) softmax_row(args, row, how, y);
}

}  // namespace assay::reference
