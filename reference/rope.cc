#include "reference/rope.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "reference/bounds.h"
#include "reference/copied.h"
#include "reference/outputs.h"

namespace assay::reference {

const Contract kRopeContract{
    "every f32, any table; rot_dim even, <= head_dim; only bits where S (1 + g(2)) >= FLT_MAX, S over finite terms",
    Exactness::bounded, "g(2) S + 4 eta, S = |x0 c| + |x1 s| (y1: |x1 c| + |x0 s|); 0 where S = 0 and in copied dimensions",
    BiasUnit::output};

namespace {

void check_domain(const RopeArgs& args) {
  if (args.rot_dim < 0 || args.rot_dim % 2 != 0 || args.rot_dim > args.head_dim)
    throw std::invalid_argument("rope: rot_dim = " + std::to_string(args.rot_dim) + ", expected even and in 0 .. head_dim");
  if (args.pairing != ASSAY_ROPE_SPLIT && args.pairing != ASSAY_ROPE_ADJACENT && args.pairing != ASSAY_ROPE_SECTIONED)
    throw std::invalid_argument("rope: pairing = " + std::to_string(args.pairing) + ", expected 0, 1 or 2");
  if (args.pairing != ASSAY_ROPE_SECTIONED) return;
  std::int64_t sum = 0;
  for (const std::int32_t section : args.sections) {
    if (section < 0) throw std::invalid_argument("rope: a section is negative");
    sum += section;
  }
  if (sum == 0) throw std::invalid_argument("rope: the sections sum to 0");
}

// The position component whose section holds pair i: sections follow each other, counted in pairs, over and over.
std::int64_t component_of(const RopeArgs& args, std::int64_t pair) {
  if (args.pairing != ASSAY_ROPE_SECTIONED) return 0;
  std::int64_t sum = 0;
  for (const std::int32_t section : args.sections) sum += section;
  std::int64_t place = pair % sum;
  std::int64_t component = 0;
  while (place >= args.sections[component]) place -= args.sections[component++];
  if (component >= args.components)
    throw std::invalid_argument("rope: section " + std::to_string(component) + " has no component");
  return component;
}

double finite_magnitude(double x) {
  return std::isfinite(x) ? std::abs(x) : 0;
}

// a b + c d, signs as given.
void set_rotated(double a, double b, double c, double d, std::int64_t index, const Arithmetic& how, Expected& y) {
  const double first = a * b;
  const double second = c * d;
  const double s = finite_magnitude(first) + finite_magnitude(second);
  if (!how.own()) {
    Sum sum{first + second, s, 2, 3};  // each product's rounding and the addition's
    if (std::min(std::abs(a), std::abs(b)) < how.least_read()) sum.lost += finite_magnitude(first);
    if (std::min(std::abs(c), std::abs(d)) < how.least_read()) sum.lost += finite_magnitude(second);
    set_bounded(y, index, sum.value, sum_bound(how, sum));
    if (sum_may_overflow(how, sum)) set_bits_only(y, index);
    return;
  }
  set_bounded(y, index, first + second, rope_bound(s));
  if (may_overflow(s, 2)) set_bits_only(y, index);
}

void rotate_head(const RopeArgs& args, std::int64_t row, const float* x, std::int64_t first, const Arithmetic& how, Expected& y) {
  const std::int64_t pairs = args.rot_dim / 2;
  const bool adjacent = args.pairing == ASSAY_ROPE_ADJACENT;
  for (std::int64_t i = 0; i < pairs; ++i) {
    const std::int64_t i0 = adjacent ? 2 * i : i;
    const std::int64_t i1 = adjacent ? 2 * i + 1 : i + pairs;
    const std::int64_t entry = component_of(args, i) * args.component_stride + row * args.table_stride + i;
    const double c = static_cast<double>(args.cos[entry]);
    const double s = static_cast<double>(args.sin[entry]);
    const double x0 = static_cast<double>(x[i0]);
    const double x1 = static_cast<double>(x[i1]);
    set_rotated(x0, c, -x1, s, first + i0, how, y);
    set_rotated(x1, c, x0, s, first + i1, how, y);
  }
  for (std::int64_t d = args.rot_dim; d < args.head_dim; ++d) {
    const double truth = how.own() ? copied(x[d]) : static_cast<double>(x[d]);
    const double bound = how.own() ? 0 : written_bound(how, truth, 0);
    set_bounded(y, first + d, truth, bound);
    if (written_may_overflow(how, truth, bound)) set_bits_only(y, first + d);
  }
}

}  // namespace

void rope(const RopeArgs& args, Expected& y) {
  declared_rope(args, {}, y);
}

void declared_rope(const RopeArgs& args, const Arithmetic& how, Expected& y) {
  check_domain(args);
  resize_bounded(y, args.rows * args.heads * args.head_dim);
  for (std::int64_t row = 0; row < args.rows; ++row)
    for (std::int64_t head = 0; head < args.heads; ++head)
      rotate_head(args, row, args.x + row * args.x_row_stride + head * args.x_head_stride,
                  (row * args.heads + head) * args.head_dim, how, y);
}

}  // namespace assay::reference
