#include "harness/audit/formula.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "reference/blocks.h"
#include "reference/decode.h"

namespace assay {
namespace {

constexpr double kOwn = 0x1p-52;    // our own fp64 evaluation: twice its unit roundoff
constexpr double kExpUlps = 4;      // of other libraries' exponentials; the best known vector ones stay below 2
constexpr double kTiny = 0x1p-140;  // what underflow may take from a sum in fp32

// n roundings of relative size u.
double growth(double n, double u) {
  return n * u / (1 - n * u);
}

// A bound on sums of n terms in any order, our own evaluation's error included.
double sum_growth(double n, const Recipe& recipe) {
  return growth(n, recipe.u) + growth(n, kOwn);
}

// The result as it is stored.
void store(Truth& truth, const Recipe& recipe) {
  truth.bound = truth.bound.array() + recipe.stored * (truth.value.array().abs() + truth.bound.array()) + kTiny;
}

Truth linear(const SiteCall& call, const Recipe& recipe) {
  const DecodedWeight& w = *call.weight;
  RowMatrix x = call.inputs[0];
  if (x.cols() != w.value.cols()) throw std::invalid_argument("the weight has " + std::to_string(w.value.cols()) + " columns");
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    const std::vector<double> rounded =
        round_activations(call.activations, {x.row(row).data(), static_cast<std::size_t>(x.cols())});
    x.row(row) = Eigen::Map<const Eigen::RowVectorXd>(rounded.data(), x.cols());
  }
  Truth truth{x * w.value.transpose(), {}};
  // Blocks: integers are exact, then two terms a block meet one rounding each, and the products of scales (docs/numerics.md).
  const double n = w.blocks > 0 ? 2.0 * static_cast<double>(w.blocks) + 3 : static_cast<double>(x.cols()) + 1;
  const double own = growth(static_cast<double>(x.cols()) + 1, kOwn);
  truth.bound = (growth(n, recipe.u) + own) * (x.cwiseAbs() * w.split.transpose());
  store(truth, recipe);
  return truth;
}

Truth rms_norm(const SiteCall& call, const Recipe& recipe) {
  const RowMatrix& x = call.inputs[0];
  const Eigen::Index n = x.cols() / call.heads;
  if (n != call.weight->value.cols()) {
    throw std::invalid_argument("the weight has " + std::to_string(call.weight->value.cols()) + " numbers, a row " +
                                std::to_string(n));
  }
  Truth truth{RowMatrix(x.rows(), x.cols()), {}};
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    for (Eigen::Index head = 0; head < call.heads; ++head) {
      const auto in = x.row(row).segment(head * n, n);
      const double mean = in.squaredNorm() / static_cast<double>(n);
      const double root = call.eps_outside ? std::sqrt(mean) + call.eps : std::sqrt(mean + call.eps);
      truth.value.row(row).segment(head * n, n) = in.array() / root * call.weight->value.row(0).array();
    }
  }
  // Half of the mean's error, its division, the root, the reciprocal, two products. A narrow engine stores the normalised value too.
  const double relative = sum_growth(static_cast<double>(n) / 2 + 8, recipe) + recipe.stored * (1 + recipe.stored);
  truth.bound = relative * truth.value.cwiseAbs();
  store(truth, recipe);
  return truth;
}

Truth rope(const SiteCall& call, const Recipe& recipe) {
  const RowMatrix& x = call.inputs[0];
  const Eigen::Index d = x.cols() / call.heads;
  Truth truth{RowMatrix(x.rows(), x.cols()), RowMatrix(x.rows(), x.cols())};
  const double roundings =
      sum_growth(4, recipe) + 2 * recipe.stored * (1 + recipe.stored);  // sine, product, sum; narrow: cast, product
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    const auto position = static_cast<double>(call.positions[static_cast<std::size_t>(row)] + call.shift);
    for (Eigen::Index i = 0; i < d / 2; ++i) {
      const double angle = position * std::pow(call.theta, -2.0 * static_cast<double>(i) / static_cast<double>(d));
      const double drift = std::abs(angle) * (recipe.angle_first + static_cast<double>(i) * recipe.angle_per_pair + 0x1p-50);
      const double c = std::cos(angle);
      const double s = std::sin(angle);
      for (Eigen::Index head = 0; head < call.heads; ++head) {
        const Eigen::Index a = head * d + (call.adjacent ? 2 * i : i);
        const Eigen::Index b = head * d + (call.adjacent ? 2 * i + 1 : i + d / 2);
        const double x0 = x(row, a);
        const double x1 = x(row, b);
        truth.value(row, a) = x0 * c - x1 * s;
        truth.value(row, b) = x1 * c + x0 * s;
        const double moved = drift * (std::abs(x0) + std::abs(x1));
        truth.bound(row, a) = roundings * (std::abs(x0 * c) + std::abs(x1 * s)) + moved;
        truth.bound(row, b) = roundings * (std::abs(x1 * c) + std::abs(x0 * s)) + moved;
      }
    }
  }
  store(truth, recipe);
  return truth;
}

// One query head against the keys that it sees; docs/numerics.md's bound of attention with sums in any order.
void attend(const Eigen::RowVectorXd& q, const RowMatrix& k, const RowMatrix& v, const Recipe& recipe,
            Eigen::Ref<Eigen::RowVectorXd> value, Eigen::Ref<Eigen::RowVectorXd> bound) {
  const auto d = static_cast<double>(q.cols());
  const auto keys = static_cast<double>(k.rows());
  const double scale = 1 / std::sqrt(d);
  const Eigen::ArrayXd score = scale * (k * q.transpose()).array();
  const Eigen::ArrayXd extent = scale * (k.cwiseAbs() * q.cwiseAbs().transpose()).array();
  const Eigen::ArrayXd moved = sum_growth(d + 3, recipe) * extent + 2 * recipe.stored * score.abs();
  const Eigen::ArrayXd below = score.maxCoeff() - score;
  const Eigen::ArrayXd e = (-below).exp();
  const Eigen::ArrayXd w = e / e.sum();
  const Eigen::ArrayXd x = moved + recipe.u * (below + moved + moved.maxCoeff()) + 2 * kExpUlps * recipe.u + 8 * kOwn;
  const Eigen::ArrayXd t = w * (x.exp() - 1) + (below > 80).select(Eigen::ArrayXd::Constant(below.size(), 0x1p-115), 0.0);
  const double total = t.sum();
  // Weights are stored once they are normalised: that rounding no division makes good.
  const double g = sum_growth(2 * keys + 4, recipe) + recipe.stored;
  value = w.matrix().transpose() * v;
  for (Eigen::Index c = 0; c < v.cols(); ++c) {
    const auto column = v.col(c).array();
    const double sums =
        (t * (column - value[c]).abs()).sum() + g * (((w + t) * column.abs()).sum() + (1 + total) * std::abs(value[c]));
    const double denominator = 1 - total - g * (1 + total);
    bound[c] = denominator > 0.5 ? sums / denominator + recipe.u * std::abs(value[c]) : std::numeric_limits<double>::infinity();
  }
}

Truth attention(const SiteCall& call, const Recipe& recipe) {
  const RowMatrix& q = call.inputs[0];
  const RowMatrix& k = call.inputs[1];
  const RowMatrix& v = call.inputs[2];
  const Eigen::Index d = q.cols() / call.heads;
  const Eigen::Index group = call.heads / call.kv_heads;
  Truth truth{RowMatrix::Zero(q.rows(), q.cols()), RowMatrix::Zero(q.rows(), q.cols())};
  Eigen::RowVectorXd value(d);
  Eigen::RowVectorXd bound(d);
  for (Eigen::Index row = 0; row < q.rows(); ++row) {
    const Eigen::Index seen =
        std::clamp<Eigen::Index>(call.positions[static_cast<std::size_t>(row)] + 1 + call.mask_ahead, 1, k.rows());
    for (Eigen::Index head = 0; head < call.heads; ++head) {
      const Eigen::Index kv = call.kv_modulo ? head % call.kv_heads : head / group;
      attend(q.row(row).segment(head * d, d), k.block(0, kv * d, seen, d), v.block(0, kv * d, seen, d), recipe, value, bound);
      truth.value.row(row).segment(head * d, d) = value;
      truth.bound.row(row).segment(head * d, d) = bound;
    }
  }
  store(truth, recipe);
  return truth;
}

Truth swiglu(const SiteCall& call, const Recipe& recipe) {
  const auto g = call.inputs[0].array();
  const auto up = call.inputs[1].array();
  Truth truth{(g / (1 + (-g).exp()) * up).matrix(), {}};
  const double roundings = 4 * recipe.u + 8 * kOwn + recipe.stored;
  truth.bound = ((roundings + 2 * kExpUlps * recipe.u / (1 + g.exp())) * truth.value.array().abs() +
                 up.abs() * (g < -80).select(RowMatrix::Constant(g.rows(), g.cols(), 0x1p-110).array(), 0.0))
                    .matrix();
  store(truth, recipe);
  return truth;
}

Truth add(const SiteCall& call, const Recipe& recipe) {
  Truth truth{call.inputs[0] + call.inputs[1], {}};
  truth.bound = (recipe.u + kOwn) * truth.value.cwiseAbs();
  store(truth, recipe);
  return truth;
}

Truth embed(const SiteCall& call, const Recipe& recipe) {
  const RowMatrix& table = call.weight->value;
  Truth truth{RowMatrix(std::ssize(call.tokens), table.cols()), {}};
  for (std::size_t row = 0; row < call.tokens.size(); ++row)
    truth.value.row(static_cast<Eigen::Index>(row)) = table.row(call.tokens[row]);
  // A number is copied; a block's value may be made by two products.
  truth.bound = (call.weight->blocks > 0 ? 2 * recipe.u : 0.0) * truth.value.cwiseAbs();
  store(truth, recipe);
  return truth;
}

RowMatrix decode_numbers(const Weight& weight) {
  RowMatrix out(weight.rows, weight.cols);
  const std::size_t size = dtype_size(weight.dtype);
  for (std::int64_t i = 0; i < weight.rows * weight.cols; ++i) {
    out.data()[i] = element_as_double(weight.dtype, weight.bytes.data() + static_cast<std::size_t>(i) * size);
  }
  return out;
}

reference::Format format_of(DType dtype) {
  for (const reference::Format format :
       {reference::Format::q4_0, reference::Format::q4_1, reference::Format::q5_0, reference::Format::q5_1,
        reference::Format::q8_0, reference::Format::q4_k, reference::Format::q5_k, reference::Format::q6_k}) {
    if (dtype_name(dtype) == reference::info(format).name) return format;
  }
  throw std::invalid_argument("no weights in " + std::string(dtype_name(dtype)));
}

}  // namespace

DecodedWeight decode_weight(const Weight& weight) {
  if (!is_block(weight.dtype)) {
    RowMatrix value = decode_numbers(weight);
    return {value, value.cwiseAbs(), 0};
  }
  const reference::Format format = format_of(weight.dtype);
  const reference::FormatInfo& info = reference::info(format);
  DecodedWeight out{RowMatrix(weight.rows, weight.cols), RowMatrix(weight.rows, weight.cols), weight.cols / info.elements};
  for (std::int64_t b = 0; b < weight.rows * out.blocks; ++b) {
    const reference::Block block = reference::read_block(format, weight.bytes.data() + b * info.bytes);
    for (int i = 0; i < info.elements; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::int64_t index = b * info.elements + i;
      out.value.data()[index] = block.value(i);
      out.split.data()[index] =
          std::abs(block.d * block.scale[at] * block.code[at]) + (block.has_min ? std::abs(block.dmin * block.min[at]) : 0);
    }
  }
  return out;
}

Truth evaluate(const SiteCall& call, const Recipe& recipe) {
  switch (call.kind) {
    case StepKind::linear:
      return linear(call, recipe);
    case StepKind::rms_norm:
      return rms_norm(call, recipe);
    case StepKind::rope:
      return rope(call, recipe);
    case StepKind::attention:
      return attention(call, recipe);
    case StepKind::swiglu:
      return swiglu(call, recipe);
    case StepKind::add:
      return add(call, recipe);
    case StepKind::embed:
      return embed(call, recipe);
    default:
      throw std::invalid_argument(std::string(step_kind_name(call.kind)) + " has no formula");
  }
}

Excess excess_of(const RowMatrix& value, const Truth& truth) {
  Excess excess;
  if (value.rows() != truth.value.rows() || value.cols() != truth.value.cols()) throw std::invalid_argument("shapes differ");
  std::vector<bool> columns(static_cast<std::size_t>(value.cols()));
  for (Eigen::Index row = 0; row < value.rows(); ++row) {
    bool row_fails = false;
    for (Eigen::Index column = 0; column < value.cols(); ++column) {
      const double error = std::abs(value(row, column) - truth.value(row, column));
      const double bound = truth.bound(row, column);
      if (!std::isfinite(bound)) {
        ++excess.unbounded;
        continue;
      }
      const double ratio = error == 0                                           ? 0
                           : !(error < std::numeric_limits<double>::infinity()) ? std::numeric_limits<double>::infinity()
                                                                                : error / bound;
      if (ratio > excess.ratio) {
        excess.ratio = ratio;
        excess.row = row;
        excess.column = column;
      }
      if (ratio <= 1) continue;
      row_fails = true;
      columns[static_cast<std::size_t>(column)] = true;
    }
    if (row_fails) excess.rows.push_back(row);
  }
  for (std::size_t column = 0; column < columns.size(); ++column) {
    if (columns[column]) excess.columns.push_back(static_cast<Eigen::Index>(column));
  }
  return excess;
}

}  // namespace assay
