// Other formulas of an element than those of swiglu, add and exp.
#include "harness/forensics/explain/formula.h"

namespace assay::why {
namespace {

double gated(const Row& row, std::size_t i, double gate) {
  return gate * static_cast<double>(row.other[i]);
}
double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

constexpr Formula kElementFormulas[] = {
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
    {"swiglu", "quick-gelu", "activation", "x sigmoid(1.702 x) stands in the place of silu",
     [](const Row& r, std::size_t i) {
       const auto x = static_cast<double>(r.x[i]);
       return gated(r, i, x * sigmoid(1.702 * x));
     }},
    {"swiglu", "quick-gelu-up-plus-one", "activation", "x sigmoid(1.702 x) stands in the place of silu, up + 1 in that of up",
     [](const Row& r, std::size_t i) {
       const auto x = static_cast<double>(r.x[i]);
       return x * sigmoid(1.702 * x) * (static_cast<double>(r.other[i]) + 1);
     }},
    {"swiglu", "hard-swish", "activation", "x clamp(x / 6 + 1/2, 0, 1) stands in the place of silu",
     [](const Row& r, std::size_t i) {
       const auto x = static_cast<double>(r.x[i]);
       return gated(r, i, x * std::clamp(x / 6 + 0.5, 0.0, 1.0));
     }},
    {"swiglu", "square-of-relu", "activation", "the square of relu stands in the place of silu",
     [](const Row& r, std::size_t i) {
       const double x = std::max(0.0, static_cast<double>(r.x[i]));
       return gated(r, i, x * x);
     }},
    {"swiglu", "leaky-relu", "activation", "relu with a hundredth below 0 stands in the place of silu",
     [](const Row& r, std::size_t i) {
       const auto x = static_cast<double>(r.x[i]);
       return gated(r, i, x > 0 ? x : 0.01 * x);
     }},
    {"swiglu", "elu", "activation", "elu stands in the place of silu",
     [](const Row& r, std::size_t i) {
       const auto x = static_cast<double>(r.x[i]);
       return gated(r, i, x > 0 ? x : std::expm1(x));
     }},
    {"swiglu", "tanh", "activation", "tanh stands in the place of silu",
     [](const Row& r, std::size_t i) { return gated(r, i, std::tanh(static_cast<double>(r.x[i]))); }},
    {"swiglu", "softplus", "activation", "softplus stands in the place of silu",
     [](const Row& r, std::size_t i) { return gated(r, i, std::log1p(std::exp(static_cast<double>(r.x[i])))); }},
    {"swiglu", "mish", "activation", "mish stands in the place of silu",
     [](const Row& r, std::size_t i) {
       const auto x = static_cast<double>(r.x[i]);
       return gated(r, i, x * std::tanh(std::log1p(std::exp(x))));
     }},
    {"swiglu", "silu-of-both", "activation", "silu is taken of up too",
     [](const Row& r, std::size_t i) {
       const auto x = static_cast<double>(r.x[i]);
       return gated(r, i, x * sigmoid(x) * sigmoid(static_cast<double>(r.other[i])));
     }},
    {"swiglu", "silu-of-silu", "activation", "silu is taken twice",
     [](const Row& r, std::size_t i) {
       const double once = static_cast<double>(r.x[i]) * sigmoid(static_cast<double>(r.x[i]));
       return gated(r, i, once * sigmoid(once));
     }},
    {"swiglu", "sigmoid-of-up", "operand", "the sigmoid is taken of up",
     [](const Row& r, std::size_t i) { return static_cast<double>(r.x[i]) * sigmoid(static_cast<double>(r.other[i])); }},
    {"add", "mean", "factor", "their mean is taken",
     [](const Row& r, std::size_t i) { return (static_cast<double>(r.x[i]) + static_cast<double>(r.other[i])) / 2; }},
    {"add", "larger", "activation", "the larger one is taken",
     [](const Row& r, std::size_t i) { return std::max(static_cast<double>(r.x[i]), static_cast<double>(r.other[i])); }},
    {"add", "second-twice", "factor", "the second is added twice",
     [](const Row& r, std::size_t i) { return static_cast<double>(r.x[i]) + 2 * static_cast<double>(r.other[i]); }},
    {"add", "first-twice", "factor", "the first is added twice",
     [](const Row& r, std::size_t i) { return 2 * static_cast<double>(r.x[i]) + static_cast<double>(r.other[i]); }},
    {"add", "difference", "sign", "the second is taken off, not added",
     [](const Row& r, std::size_t i) { return static_cast<double>(r.x[i]) - static_cast<double>(r.other[i]); }},
    {"add", "product", "activation", "they are multiplied",
     [](const Row& r, std::size_t i) { return static_cast<double>(r.x[i]) * static_cast<double>(r.other[i]); }},
    {"exp", "power-of-two", "activation", "it is a power of 2, not of e",
     [](const Row& r, std::size_t i) { return std::exp2(static_cast<double>(r.x[i])); }},
    {"exp", "power-of-ten", "activation", "it is a power of 10, not of e",
     [](const Row& r, std::size_t i) { return std::pow(10.0, static_cast<double>(r.x[i])); }},
    {"exp", "minus-one", "activation", "1 is taken off",
     [](const Row& r, std::size_t i) { return std::expm1(static_cast<double>(r.x[i])); }},
    {"exp", "of-minus", "sign", "it is taken of -x",
     [](const Row& r, std::size_t i) { return std::exp(-static_cast<double>(r.x[i])); }},
};

}  // namespace

std::span<const Formula> element_formulas() {
  return kElementFormulas;
}

}  // namespace assay::why
