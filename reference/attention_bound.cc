#include "reference/attention_bound.h"

#include <algorithm>
#include <cmath>

#include "reference/bounds.h"
#include "reference/expected.h"

namespace assay::reference {
namespace {

constexpr std::int64_t kBlock = 16;
constexpr std::int64_t kSpan = 1024;
constexpr double kUnderflow = 0x1p-148;  // of an exponential below e^-86, with the roundings after it
constexpr double kFar = 86;
constexpr double kSure = 0x1p-12;  // a weight that no rounding takes for 0

// How many blocks and spans hold a key, and how many of the blocks come after each key's.
struct Places {
  std::int64_t blocks = 0;
  std::int64_t spans = 0;
  Eigen::ArrayXd blocks_after;
};

// `each`: every key may be a block.
Places places_of(std::span<const std::int64_t> position, bool each) {
  const auto count = static_cast<Eigen::Index>(position.size());
  Places places;
  places.blocks_after.resize(count);
  for (Eigen::Index j = count; j-- > 0;) {
    const auto at = static_cast<std::size_t>(j);
    const bool last = j + 1 == count;
    if (last || each || position[at] / kBlock != position[at + 1] / kBlock) ++places.blocks;
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
  double growth = 0;   // G of the weights' sum
  double sums = 0;     // G of the outputs'
  double etas = 0;     // roundings that may underflow, each eta
  double v_etas = 0;   // of each key's product, by |v|
};

// Roundings of a score in f32: its product's, the additions', the scaling's.
double score_growth(std::int64_t head_dim, const Arithmetic& how) {
  if (how.own()) return g(dot16_depth(head_dim) + 1);
  return kF32.growth(static_cast<double>(how.order.additions(head_dim, dot16_depth(head_dim) - 1) + 2));
}

Terms terms_of(const AttentionKeys& keys, std::int64_t head_dim, const Arithmetic& how) {
  const bool in_order = how.order.kind == Order::Kind::canonical;
  const Places places = places_of(keys.position, !in_order);
  const auto count = static_cast<std::int64_t>(keys.position.size());
  const Eigen::ArrayXd below = keys.score.maxCoeff() - keys.score;
  const Eigen::ArrayXd e = (-below).exp();
  Eigen::ArrayXd d = score_growth(head_dim, how) * keys.extent;
  if (keys.lost.size() > 0) d += keys.lost + static_cast<double>(2 * head_dim + 1) * kF32.normal();
  const Eigen::ArrayXd scalings = places.blocks_after + static_cast<double>(places.spans) + 1;  // R_j + 1
  const Eigen::ArrayXd x = d + kU * (below + d + d.maxCoeff()) + scalings * how.exp_u();
  Terms terms;
  terms.w = e / e.sum();
  terms.t = terms.w * x.unaryExpr([](double v) { return std::expm1(v); });
  terms.wider = terms.w + terms.t;
  terms.far = (below + x > kFar).select(scalings * (how.own() ? kUnderflow : how.exp_underflow()), 0.0);
  terms.any_far = (terms.far != 0).any();
  terms.total_t = terms.t.sum();
  const std::int64_t in_span = in_order ? std::min(count, kSpan) : count;
  const std::int64_t chain = in_span + std::min(places.blocks, in_order ? kSpan / kBlock : count) + 2 * places.spans + 1;
  const auto steps = static_cast<double>(count + places.blocks + 2 * places.spans + 2);
  terms.growth = g(chain);
  terms.sums = terms.growth;
  terms.etas = steps * kEta;
  if (how.own()) return terms;
  const Number& acc = how.sums();  // of a narrow one each weight is rounded too, and its product
  terms.sums = acc.growth(static_cast<double>(chain + (acc.digits < kF32.digits ? 2 : 0)));
  terms.v_etas = acc.eta() + (how.flush ? acc.normal() : 0);
  terms.etas = (1 + terms.sums) * steps * (acc.eta() + (how.flush ? 2 * acc.normal() : 0)) + kEta;  // the output's, in f32
  return terms;
}

// The bound of one column; NaN where it is void.
template <class Column>
double column_bound(const Terms& terms, const Column& v, double o) {
  const double wider = 1 + terms.total_t;
  const double denominator = 1 - terms.total_t - terms.growth * wider;
  if (!(denominator > 0.5)) return std::numeric_limits<double>::quiet_NaN();
  const double moved = (terms.t * (v - o).abs()).sum();
  const double summed = terms.growth * ((terms.wider * v.abs()).sum() + wider * std::abs(o)) +
                        (terms.sums - terms.growth) * (terms.wider * v.abs()).sum() + terms.v_etas * v.abs().sum();
  const double underflown = terms.any_far ? (terms.far * (v.abs() + std::abs(o))).sum() : 0;
  return (1 + kU) * (moved + summed + underflown + terms.etas) / denominator + kU * std::abs(o);
}

// What infinities and NaN of a column decide in whatever order, where no sum of the others overflows.
enum class NotFinite {
  nothing,
  that,  // the output is one of them, which is left open: 0 inf is NaN, and a weight may be lost
  which  // each has a weight
};
NotFinite decided(const Terms& terms, const Eigen::ArrayXd& v, const Arithmetic& how) {
  const Eigen::Array<bool, Eigen::Dynamic, 1> finite = v.isFinite();
  if (finite.all() || !how.own()) return NotFinite::nothing;
  if (!((1 + terms.sums) * finite.select(v, 0.0).abs().sum() < kFloatMax)) return NotFinite::nothing;
  return (!finite && terms.w < kSure).any() ? NotFinite::that : NotFinite::which;
}

}  // namespace

AttentionOutputs attention_outputs(const AttentionKeys& keys, const Arithmetic& how) {
  const Eigen::Index columns = keys.v.cols();
  const Terms terms = terms_of(keys, columns, how);
  AttentionOutputs y{Eigen::ArrayXd(columns), Eigen::ArrayXd(columns),
                     std::vector<std::uint8_t>(static_cast<std::size_t>(columns))};
  for (Eigen::Index c = 0; c < columns; ++c) {
    const auto v = keys.v.col(c).array();
    const double total = v.abs().sum();
    y.value[c] = 0 + (terms.w * v).sum();
    y.bound[c] = total == 0 ? 0 : written_bound(how, y.value[c], column_bound(terms, v, y.value[c]));
    std::uint8_t& bits_only = y.bits_only[static_cast<std::size_t>(c)];
    if (const NotFinite one = decided(terms, v, how); one != NotFinite::nothing) {
      y.bound[c] = 0;
      bits_only = one == NotFinite::that ? kNotFinite : 0;
      continue;
    }
    const bool valid = total == 0 || (std::isfinite(y.bound[c]) && y.bound[c] > 0);
    const bool overflows = !((1 + terms.sums) * total < std::min(how.sums().largest(), kFloatMax)) ||
                           written_may_overflow(how, y.value[c], y.bound[c]);
    bits_only = valid && !overflows ? 0 : 1;
  }
  return y;
}

}  // namespace assay::reference
