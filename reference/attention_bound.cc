#include "reference/attention_bound.h"

#include <algorithm>
#include <cmath>

#include "reference/bounds.h"

namespace assay::reference {
namespace {

constexpr std::int64_t kBlock = 16;
constexpr std::int64_t kSpan = 1024;
constexpr double kUnderflow = 0x1p-148;  // of an exponential below e^-86, with the roundings after it
constexpr double kFar = 86;

// How many blocks and spans hold a key, and how many of the blocks come after each key's.
struct Places {
  std::int64_t blocks = 0;
  std::int64_t spans = 0;
  Eigen::ArrayXd blocks_after;
};

Places places_of(std::span<const std::int64_t> position) {
  const auto count = static_cast<Eigen::Index>(position.size());
  Places places;
  places.blocks_after.resize(count);
  for (Eigen::Index j = count; j-- > 0;) {
    const auto at = static_cast<std::size_t>(j);
    const bool last = j + 1 == count;
    if (last || position[at] / kBlock != position[at + 1] / kBlock) ++places.blocks;
    if (last || position[at] / kSpan != position[at + 1] / kSpan) ++places.spans;
    places.blocks_after[j] = static_cast<double>(places.blocks - 1);
  }
  return places;
}

// What the bound of every column shares.
struct Terms {
  Eigen::ArrayXd w;      // weights of the truth
  Eigen::ArrayXd t;      // by how much each may be larger
  Eigen::ArrayXd wider;  // w + t
  Eigen::ArrayXd far;    // (R_j + 1) 2^-148 where the exponential may underflow, else 0
  bool any_far = false;
  double total_t = 0;  // W
  double growth = 0;   // G
  double etas = 0;     // roundings that may underflow, each eta
};

Terms terms_of(const AttentionKeys& keys, std::int64_t head_dim) {
  const Places places = places_of(keys.position);
  const auto count = static_cast<std::int64_t>(keys.position.size());
  const Eigen::ArrayXd below = keys.score.maxCoeff() - keys.score;
  const Eigen::ArrayXd e = (-below).exp();
  const Eigen::ArrayXd d = g(dot16_depth(head_dim) + 1) * keys.extent;
  const Eigen::ArrayXd scalings = places.blocks_after + static_cast<double>(places.spans) + 1;  // R_j + 1
  const Eigen::ArrayXd x = d + kU * (below + d + d.maxCoeff()) + scalings * kExpU;
  Terms terms;
  terms.w = e / e.sum();
  terms.t = terms.w * x.unaryExpr([](double v) { return std::expm1(v); });
  terms.wider = terms.w + terms.t;
  terms.far = (below + x > kFar).select(scalings * kUnderflow, 0.0);
  terms.any_far = (terms.far != 0).any();
  terms.total_t = terms.t.sum();
  terms.growth = g(std::min(count, kSpan) + std::min(places.blocks, kSpan / kBlock) + 2 * places.spans + 1);
  terms.etas = static_cast<double>(count + places.blocks + 2 * places.spans + 2) * kEta;
  return terms;
}

// The bound of one column; NaN where it is void.
template <class Column>
double column_bound(const Terms& terms, const Column& v, double o) {
  const double wider = 1 + terms.total_t;
  const double denominator = 1 - terms.total_t - terms.growth * wider;
  if (!(denominator > 0.5)) return std::numeric_limits<double>::quiet_NaN();
  const double moved = (terms.t * (v - o).abs()).sum();
  const double summed = terms.growth * ((terms.wider * v.abs()).sum() + wider * std::abs(o));
  const double underflown = terms.any_far ? (terms.far * (v.abs() + std::abs(o))).sum() : 0;
  return (1 + kU) * (moved + summed + underflown + terms.etas) / denominator + kU * std::abs(o);
}

}  // namespace

AttentionOutputs attention_outputs(const AttentionKeys& keys) {
  const Eigen::Index columns = keys.v.cols();
  const Terms terms = terms_of(keys, columns);
  AttentionOutputs y{Eigen::ArrayXd(columns), Eigen::ArrayXd(columns), decltype(y.bits_only)(columns)};
  for (Eigen::Index c = 0; c < columns; ++c) {
    const auto v = keys.v.col(c).array();
    const double total = v.abs().sum();
    y.value[c] = 0 + (terms.w * v).sum();
    y.bound[c] = total == 0 ? 0 : column_bound(terms, v, y.value[c]);
    const bool valid = total == 0 || (std::isfinite(y.bound[c]) && y.bound[c] > 0);
    y.bits_only[c] = !valid || !((1 + terms.growth) * total < kFloatMax);
  }
  return y;
}

}  // namespace assay::reference
