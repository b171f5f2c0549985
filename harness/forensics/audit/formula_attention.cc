#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "harness/forensics/audit/formula_parts.h"

namespace assay::formula {
namespace {

// In a cache of f16 the query is rounded too, to meet the keys. `kept`: where it is.
const RowMatrix& cached(const RowMatrix& x, bool half, RowMatrix& kept) {
  if (!half) return x;
  kept = rounded(x, ActivationRounding::f16);
  return kept;
}

// ALiBi (Press et al., 2022): head h from 1 on has 2^(-8 h / n), n the largest power of two among the heads; those past n lie between the first.
double alibi_slope(std::int64_t head, std::int64_t heads) {
  const auto n = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  const double step = head < n ? static_cast<double>(head + 1) : static_cast<double>(head - n) + 0.5;
  return std::exp2(-8 * step / static_cast<double>(n));
}

// One query head against the keys that it sees; docs/numerics.md's bound of attention with sums in any order.
class Head {
 public:
  Head(const SiteCall& call, const Recipe& recipe, double dimension)
      : recipe_(recipe),
        dimension_(dimension),
        scale_(call.score_scale > 0 ? call.score_scale : 1 / std::sqrt(dimension)),
        kept_(call.half_cache                            ? Storage{std::max(recipe.inner.u, kKeptF16.u), kKeptF16.tiny}
              : call.softmax == ActivationRounding::bf16 ? kKeptBf16
              : call.softmax == ActivationRounding::f16  ? kKeptF16
                                                         : recipe.inner),
        narrow_(call.softmax),
        cap_(call.score_cap),
        sink_(call.sink) {}

  // `off`: what is taken off each key's score.
  void attend(const Eigen::RowVectorXd& q, const Eigen::Ref<const RowMatrix>& k, const Eigen::Ref<const RowMatrix>& magnitudes,
              const Eigen::Ref<const RowMatrix>& v, const Eigen::ArrayXd& off, Eigen::Ref<Eigen::RowVectorXd> value,
              Eigen::Ref<Eigen::RowVectorXd> bound) const {
    const auto keys = static_cast<double>(k.rows());
    const Eigen::ArrayXd dot = scale_ * (k * q.transpose()).array();
    Eigen::ArrayXd score = dot;
    if (cap_ > 0) score = cap_ * (score / cap_).tanh();  // which brings them nearer, and so their errors
    score -= off;
    const Eigen::ArrayXd extent = scale_ * (magnitudes * q.cwiseAbs().transpose()).array();
    // Scores are kept twice, before and after the scale; or queries after it, and scores once. What is taken off makes it once more.
    const Storage& inner = narrow_ != ActivationRounding::none ? kept_ : recipe_.inner;
    const Eigen::ArrayXd moved =
        sum_growth(dimension_ + 3, recipe_) * extent +
        (recipe_.scaled_queries ? Eigen::ArrayXd(inner.u * (extent + dot.abs()) + inner.tiny * magnitudes.rowwise().sum().array())
                                : Eigen::ArrayXd(2 * inner.u * dot.abs())) +
        recipe_.u * off + inner.u * (off > 0).select(score.abs(), 0.0) + 2 * inner.tiny;
    score = rounded(score, narrow_);
    const Eigen::ArrayXd below = score.maxCoeff() - score;
    const Eigen::ArrayXd e = (-below).exp();
    const double of_sink = sink_ * std::exp(-score.maxCoeff());
    const Eigen::ArrayXd weight = e / (e.sum() + of_sink);
    const Eigen::ArrayXd w = rounded(weight, narrow_);
    const Eigen::ArrayXd x = moved + recipe_.u * (below + moved + moved.maxCoeff()) + 2 * kExpUlps * recipe_.u + 8 * kOwn;
    const Eigen::ArrayXd t = w * (x.exp() - 1) + (below > 80).select(Eigen::ArrayXd::Constant(below.size(), 0x1p-115), 0.0);
    const double total = t.sum();
    // Weights are stored once they are normalised: that rounding no division makes good.
    const double g = sum_growth(2 * keys + 4, recipe_) + kept_.u;
    value = w.matrix().transpose() * v;
    Eigen::ArrayXd apart = Eigen::ArrayXd::Zero(v.cols());
    Eigen::ArrayXd weighted = apart;
    Eigen::ArrayXd plain = apart;
    for (Eigen::Index key = 0; key < v.rows(); ++key) {
      const auto row = v.row(key).transpose().array();
      apart += t[key] * (row - value.transpose().array()).abs();
      weighted += (w[key] + t[key]) * row.abs();
      plain += row.abs();
    }
    const double denominator = 1 - total - g * (1 + total);
    if (denominator > 0.5) {
      const Eigen::ArrayXd size = value.transpose().array().abs();
      bound = (apart + g * (weighted + (1 + total) * size) + kept_.tiny * plain) / denominator + recipe_.u * size;
    } else {
      bound.setConstant(std::numeric_limits<double>::infinity());
    }
  }

 private:
  const Recipe& recipe_;
  double dimension_;
  double scale_;
  Storage kept_;               // the softmax's weights
  ActivationRounding narrow_;  // of them and of scores
  double cap_;
  double sink_;
};

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

double gate_value(Gate gate, double beta, double g) {
  constexpr double kGeluTanh = 0.79788456080286535588;  // sqrt(2 / pi)
  switch (gate) {
    case Gate::silu:
      return g * logistic(beta * g);
    case Gate::gelu:
      return 0.5 * g * (1 + std::erf(g / std::sqrt(2.0)));
    case Gate::gelu_tanh:
      return 0.5 * g * (1 + std::tanh(kGeluTanh * (g + 0.044715 * g * g * g)));
    case Gate::relu:
      return std::max(g, 0.0);
    case Gate::sigmoid:
      return logistic(g);
    default:
      return g;
  }
}

}  // namespace

Truth attention(const SiteCall& call, const Recipe& recipe, Team& team) {
  std::array<RowMatrix, 3> kept;
  const RowMatrix& q = cached(call.inputs[0], call.half_cache, kept[0]);
  const RowMatrix& k = cached(call.inputs[1], call.half_cache, kept[1]);
  const RowMatrix& v = cached(call.inputs[2], call.half_cache, kept[2]);
  const Eigen::Index d = q.cols() / call.heads;
  const Eigen::Index group = std::max<std::int64_t>(call.heads / call.kv_heads, 1);
  if (k.cols() != call.kv_heads * d || v.cols() != call.kv_heads * d || call.heads % call.kv_heads != 0)
    throw std::invalid_argument("heads of " + std::to_string(d) + " against keys and values of " + std::to_string(k.cols()) +
                                " and " + std::to_string(v.cols()));
  Truth truth{RowMatrix::Zero(q.rows(), q.cols()), RowMatrix::Zero(q.rows(), q.cols())};
  const Head one(call, recipe, static_cast<double>(d));
  for (Eigen::Index kv = 0; kv < call.kv_heads; ++kv) {
    const auto k_head = k.middleCols(kv * d, d);
    const auto v_head = v.middleCols(kv * d, d);
    const RowMatrix magnitudes = k_head.cwiseAbs();
    parallel_blocks(team, q.rows(), 1, [&](std::int64_t row, std::int64_t) {
      const Eigen::Index position = call.positions[static_cast<std::size_t>(row)];
      const Eigen::Index seen = std::clamp<Eigen::Index>(std::max(position + 1 + call.mask_ahead, call.prefix), 1, k.rows());
      const Eigen::Index end = call.mask_depth > 0 ? k.rows() : seen;
      const Eigen::Index first = call.window > 0  ? position + 1 - call.window
                                 : call.chunk > 0 ? position / call.chunk * call.chunk
                                                  : call.first_key;
      const Eigen::Index begin = std::clamp<Eigen::Index>(first, 0, end - 1);
      const Eigen::Index count = end - begin;
      const Eigen::ArrayXd distance =
          (static_cast<double>(position - begin) - Eigen::ArrayXd::LinSpaced(count, 0, static_cast<double>(count - 1))).abs();
      Eigen::ArrayXd masked = Eigen::ArrayXd::Zero(count);
      masked.tail(std::max<Eigen::Index>(end - seen, 0)) += call.mask_depth;
      Eigen::RowVectorXd value(d);
      Eigen::RowVectorXd bound(d);
      for (Eigen::Index head = 0; head < call.heads; ++head) {
        const Eigen::Index read = !call.kv_of.empty() ? call.kv_of[static_cast<std::size_t>(head)]
                                  : call.kv_modulo    ? head % call.kv_heads
                                                      : head / group;
        if (read != kv) continue;
        one.attend(q.row(row).segment(head * d, d), k_head.middleRows(begin, count), magnitudes.middleRows(begin, count),
                   v_head.middleRows(begin, count), masked + call.alibi * alibi_slope(head, call.heads) * distance, value, bound);
        truth.value.row(row).segment(head * d, d) = value;
        truth.bound.row(row).segment(head * d, d) = bound;
      }
    });
  }
  store(truth, recipe);
  return truth;
}

Truth gated(const SiteCall& call, const Recipe& recipe) {
  RowMatrix inputs[] = {call.inputs[0], call.inputs[1]};
  if (call.gate_limit > 0) inputs[0] = inputs[0].cwiseMin(call.gate_limit);
  if (call.up_limit > 0) inputs[1] = inputs[1].cwiseMin(call.up_limit).cwiseMax(-call.up_limit);
  const auto g = inputs[0].array();
  const auto up = inputs[1].array();
  Truth truth{(g.unaryExpr([&](double x) { return gate_value(call.gate, call.beta, x); }) * up).matrix(), {}};
  const double roundings = 4 * recipe.u + 8 * kOwn + growth(recipe.silu_steps, recipe.inner.u);
  // What a sigmoid, and 1 + tanh or 1 + erf, is off by does not shrink with it.
  const bool cancels = call.gate == Gate::gelu || call.gate == Gate::gelu_tanh;
  const double absolute = recipe.sigmoid + (cancels ? 2 * kExpUlps * recipe.u : 0.0);
  truth.bound = ((roundings + 2 * kExpUlps * recipe.u / (1 + g.exp())) * truth.value.array().abs() +
                 up.abs() * (absolute * g.abs() + recipe.silu_steps * recipe.inner.tiny * (1 + g.abs())) +
                 up.abs() * (g < -80).select(RowMatrix::Constant(g.rows(), g.cols(), 0x1p-110).array(), 0.0))
                    .matrix();
  store(truth, recipe);
  return truth;
}

}  // namespace assay::formula
