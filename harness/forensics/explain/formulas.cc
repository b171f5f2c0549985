// Other formulas than the op's, each in the place where kernels have it.
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "harness/forensics/explain/hypothesis.h"

namespace assay::why {
namespace {

// A row of the op's inputs: x, and what stands beside it; of rms_norm w, of swiglu gate and up. Its sums are taken once.
struct Row {
  // A sum that overflows in f32 stays infinite in the rows that follow.
  static double as_f32(double sum) { return static_cast<double>(static_cast<float>(sum)); }

  std::span<const float> x;
  std::span<const float> other;
  double eps;
  double squares = 0;
  double mean = 0;
  double most = -INFINITY;
  double exps = 0;        // of softmax, as what follows: the whole sum
  double exps_of_16 = 0;  // without those past the last sixteen
  double last_exp = 0;
  double squares_so_far = 0;  // of all rows from the first to this one
  double exps_so_far = 0;

  Row(std::span<const float> row, std::span<const float> beside, double norm_eps, const Row* before)
      : x(row), other(beside), eps(norm_eps) {
    for (const float value : x) {
      const auto wide = static_cast<double>(value);
      squares += wide * wide;
      mean += wide / static_cast<double>(x.size());
      most = std::max(most, wide);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      last_exp = std::exp(static_cast<double>(x[i]) - most);
      exps += last_exp;
      if (i < x.size() / 16 * 16) exps_of_16 += last_exp;
    }
    squares_so_far = as_f32(squares + (before == nullptr ? 0 : before->squares_so_far));
    exps_so_far = exps + (before == nullptr ? 0 : before->exps_so_far);
  }
};

double mean_square(const Row& row) {
  return row.squares / static_cast<double>(row.x.size());
}
double norm_of(const Row& row, std::size_t i, double divisor) {
  return static_cast<double>(row.x[i]) / divisor * static_cast<double>(row.other[i]);
}
double exp_of(const Row& row, std::size_t i) {
  return std::exp(static_cast<double>(row.x[i]) - row.most);
}
double gated(const Row& row, std::size_t i, double gate) {
  return gate * static_cast<double>(row.other[i]);
}

struct Formula {
  const char* family;
  const char* name;
  const char* kind;
  const char* words;
  double (*of)(const Row& row, std::size_t i);
};
constexpr Formula kFormulas[] = {
    {"rms_norm", "eps-outside-root", "eps", "eps is added to the root, not under it",
     [](const Row& r, std::size_t i) { return norm_of(r, i, std::sqrt(mean_square(r)) + r.eps); }},
    {"rms_norm", "eps-before-mean", "eps", "eps is added to the sum of squares, not to their mean",
     [](const Row& r, std::size_t i) { return norm_of(r, i, std::sqrt((r.squares + r.eps) / static_cast<double>(r.x.size()))); }},
    {"rms_norm", "no-eps", "eps", "eps is left out",
     [](const Row& r, std::size_t i) { return norm_of(r, i, std::sqrt(mean_square(r))); }},
    {"rms_norm", "no-root", "root", "it is divided by the mean square, not by its root",
     [](const Row& r, std::size_t i) { return norm_of(r, i, mean_square(r) + r.eps); }},
    {"rms_norm", "sum-for-mean", "mean", "the sum of squares stands in the place of their mean",
     [](const Row& r, std::size_t i) { return norm_of(r, i, std::sqrt(r.squares + r.eps)); }},
    {"rms_norm", "goes-on", "carry", "the sum of squares goes on from the row before",
     [](const Row& r, std::size_t i) {
       return norm_of(r, i, std::sqrt(r.squares_so_far / static_cast<double>(r.x.size()) + r.eps));
     }},
    {"rms_norm", "mean-of-16", "mean", "the mean is taken over the length rounded up to sixteen",
     [](const Row& r, std::size_t i) {
       const std::size_t rounded_up = (r.x.size() + 15) / 16 * 16;
       return norm_of(r, i, std::sqrt(r.squares / static_cast<double>(rounded_up) + r.eps));
     }},
    {"rms_norm", "mean-of-n-1", "mean", "the mean is taken over one element less",
     [](const Row& r, std::size_t i) {
       return norm_of(r, i, std::sqrt(r.squares / (static_cast<double>(r.x.size()) - 1) + r.eps));
     }},
    {"rms_norm", "centred", "mean", "the mean is taken off first, as a layer norm does",
     [](const Row& r, std::size_t i) {
       const double m = r.mean;
       return (static_cast<double>(r.x[i]) - m) / std::sqrt(mean_square(r) - m * m + r.eps) * static_cast<double>(r.other[i]);
     }},
    {"rms_norm", "own-row-as-weights", "operand", "the row itself stands in the place of the weights",
     [](const Row& r, std::size_t i) {
       return static_cast<double>(r.x[i]) * static_cast<double>(r.x[i]) / std::sqrt(mean_square(r) + r.eps);
     }},
    {"rms_norm", "multiplied", "root", "it is multiplied by the root, not divided",
     [](const Row& r, std::size_t i) { return norm_of(r, i, 1 / std::sqrt(mean_square(r) + r.eps)); }},
    {"softmax", "not-divided", "missing division", "the row is not divided by its sum", exp_of},
    {"softmax", "tail-not-divided", "missing division", "past the last sixteen the row is not divided by its sum",
     [](const Row& r, std::size_t i) { return i < r.x.size() / 16 * 16 ? exp_of(r, i) / r.exps : exp_of(r, i); }},
    {"softmax", "tail-not-summed", "tail", "past the last sixteen the row is left out of its sum",
     [](const Row& r, std::size_t i) { return exp_of(r, i) / r.exps_of_16; }},
    {"softmax", "last-not-summed", "tail", "the last is left out of the row's sum",
     [](const Row& r, std::size_t i) { return exp_of(r, i) / (r.exps - r.last_exp); }},
    {"softmax", "goes-on", "carry", "the sum goes on from the row before",
     [](const Row& r, std::size_t i) { return exp_of(r, i) / r.exps_so_far; }},
    {"softmax", "logarithm", "missing division", "the logarithm of the softmax is given",
     [](const Row& r, std::size_t i) { return std::log(exp_of(r, i) / r.exps); }},
    {"swiglu", "sigmoid-alone", "activation", "the gate is its sigmoid, not x times it",
     [](const Row& r, std::size_t i) { return gated(r, i, 1 / (1 + std::exp(-static_cast<double>(r.x[i])))); }},
    {"swiglu", "sigmoid-of-minus", "sign", "the sigmoid is taken of -gate",
     [](const Row& r, std::size_t i) {
       return gated(r, i, static_cast<double>(r.x[i]) / (1 + std::exp(static_cast<double>(r.x[i]))));
     }},
    {"swiglu", "without-one", "activation", "the sigmoid lacks its 1",
     [](const Row& r, std::size_t i) {
       return gated(r, i, static_cast<double>(r.x[i]) * std::exp(static_cast<double>(r.x[i])));
     }},
    {"swiglu", "gelu", "activation", "gelu stands in the place of silu",
     [](const Row& r, std::size_t i) {
       return gated(r, i, 0.5 * static_cast<double>(r.x[i]) * std::erfc(-static_cast<double>(r.x[i]) / std::sqrt(2.0)));
     }},
    {"swiglu", "tanh-gelu", "activation", "the gelu of a tanh stands in the place of silu",
     [](const Row& r, std::size_t i) {
       const double x = static_cast<double>(r.x[i]);
       return gated(r, i, 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x))));
     }},
    {"swiglu", "relu", "activation", "relu stands in the place of silu",
     [](const Row& r, std::size_t i) { return gated(r, i, std::max(0.0, static_cast<double>(r.x[i]))); }},
    {"add", "difference", "sign", "the second is taken off, not added",
     [](const Row& r, std::size_t i) { return static_cast<double>(r.x[i]) - static_cast<double>(r.other[i]); }},
    {"add", "product", "activation", "they are multiplied",
     [](const Row& r, std::size_t i) { return static_cast<double>(r.x[i]) * static_cast<double>(r.other[i]); }},
    {"exp", "power-of-two", "activation", "it is a power of 2, not of e",
     [](const Row& r, std::size_t i) { return std::exp2(static_cast<double>(r.x[i])); }},
    {"exp", "of-minus", "sign", "it is taken of -x",
     [](const Row& r, std::size_t i) { return std::exp(-static_cast<double>(r.x[i])); }},
};

std::optional<Prediction> apply(const Formula& formula, const Evidence& one) {
  const auto specs = one.inputs();
  const std::size_t n = static_cast<std::size_t>(specs[0]->shape.back());
  const std::size_t count = static_cast<std::size_t>(specs[0]->elements());
  const std::size_t others = specs.size() > 1 ? static_cast<std::size_t>(specs[1]->elements()) : 0;
  if (n == 0) return std::nullopt;
  Prediction said{one.call->expected, {}};
  reference::Expected& out = said.outputs.front();
  std::optional<Row> before;
  for (std::size_t at = 0; at < count; at += n) {
    std::span<const float> beside;
    if (others > 0) beside = {one.call->inputs[1].as<float>() + (others == n ? 0 : at), n};
    const Row row({one.call->inputs[0].as<float>() + at, n}, beside, one.params.has("eps") ? one.params.real("eps") : 0,
                  before ? &*before : nullptr);
    for (std::size_t i = 0; i < n; ++i) {
      double& value = out.value[at + i];
      const double truth = value;
      if (!out.bits_only.empty() && out.bits_only[at + i] != 0) continue;
      value = formula.of(row, i);
      // As exact as the op's own, in proportion.
      const double scaled = truth == 0 ? 0 : out.bound[at + i] * std::fabs(value / truth);
      out.bound[at + i] = std::max(scaled, 0x1p-20 * std::fabs(value)) + 0x1p-140;
    }
    before = row;
  }
  return said;
}

}  // namespace

void add_formulas(const Op& op, Cases /*cases*/, Hypotheses& all) {
  for (const Formula& formula : kFormulas) {
    const std::string_view family = op.family->name;
    const std::string_view name = op.name;
    if (family != formula.family && name != formula.family) continue;
    all.push_back({formula.name, formula.kind, formula.words, Law::equation, 1,
                   [&formula](const Evidence& one) { return apply(formula, one); }});
  }
}

}  // namespace assay::why
