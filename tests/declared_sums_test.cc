// The bounds of declared norms, exponentials, rotations and attention, attacked as those of products are (tests/declared_bounds_test.cc).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "reference/attention.h"
#include "reference/elementwise.h"
#include "reference/rms_norm.h"
#include "reference/rope.h"
#include "reference/softmax.h"
#include "tests/declared_support.h"

namespace assay::reference::declared_sums_test {
namespace {

using Floats = std::vector<float>;

Floats draw(std::int64_t n, double scale, Engine& engine) {
  std::normal_distribution<double> normal;
  Floats all;
  for (std::int64_t i = 0; i < n; ++i) all.push_back(static_cast<float>(scale * normal(engine)));
  return all;
}
constexpr double kScales[] = {1, 0x1p-10, 20, 0x1p-63, 0x1p-128};  // the last about what is flushed
double scale_of(int repeat) {
  return kScales[static_cast<std::size_t>(repeat) % std::size(kScales)];
}

Share attack_norm(const Arithmetic& how) {
  Engine engine(8);
  Share share;
  for (int repeat = 0; share.outputs < outputs_of_a_rule(); ++repeat) {
    const auto n = static_cast<std::int64_t>(1 + engine() % 300);
    Floats x = draw(n, scale_of(repeat), engine);
    const Floats w = draw(n, scale_of(repeat / 2), engine);
    if (repeat % 7 == 0) {  // each square by itself is lost beside the first
      std::ranges::fill(x, std::sqrt(static_cast<float>(std::max(how.sums().u(), 0x1p-24))));
      x[0] = 1;
    }
    const float eps = repeat % 3 == 0 ? 1e-6F : 0x1p-126F;
    Expected expected;
    declared_rms_norm({x.data(), w.data(), nullptr, 1, n, n, n, eps}, how, expected);
    Machine machine(how, engine);
    std::vector<double> squares;
    for (const float one : x) squares.push_back(machine.product(static_cast<double>(one), static_cast<double>(one)));
    const float mean = single(how, machine.sum(squares) / static_cast<double>(n));
    const double root = std::sqrt(static_cast<double>(single(how, static_cast<double>(mean) + static_cast<double>(eps))));
    const float r =
        how.rsqrt > 0 ? rough(how, 1 / root, how.rsqrt, engine) : single(how, 1 / static_cast<double>(single(how, root)));
    for (std::size_t i = 0; i < x.size(); ++i)
      share.judge(expected, i,
                  static_cast<double>(written(
                      how, static_cast<double>(single(how, read(how, static_cast<double>(x[i])) * static_cast<double>(r))) *
                               read(how, static_cast<double>(w[i])))));
  }
  return share;
}

Share attack_softmax(const Arithmetic& how) {
  Engine engine(9);
  Share share;
  for (int repeat = 0; share.outputs < outputs_of_a_rule(); ++repeat) {
    const auto n = static_cast<std::int64_t>(1 + engine() % 300);
    Floats x = draw(n, repeat % 4 == 3 ? 60 : scale_of(repeat), engine);
    if (repeat % 5 == 0) {
      std::ranges::fill(x, static_cast<float>(std::log(std::max(how.sums().u(), 0x1p-24)) - 0.001));
      x[0] = 0;
    }
    Expected expected;
    declared_softmax({x.data(), nullptr, 1, n, n, n}, how, expected);
    const float max = std::ranges::max(x);
    Floats e;
    for (const float one : x)
      e.push_back(exponential(how, single(how, static_cast<double>(one) - static_cast<double>(max)), engine));
    Machine machine(how, engine);
    std::vector<double> terms(e.begin(), e.end());
    const double sum = machine.sum(terms);
    for (std::size_t i = 0; i < e.size(); ++i)
      share.judge(expected, i, static_cast<double>(written(how, static_cast<double>(e[i]) / sum)));
  }
  return share;
}

Share attack_elements(const Arithmetic& how) {
  Engine engine(10);
  Share share;
  for (int repeat = 0; share.outputs < outputs_of_a_rule(); ++repeat) {
    constexpr std::int64_t n = 64;
    const Floats gate = draw(n, repeat % 3 == 0 ? 1 : repeat % 3 == 1 ? 40 : scale_of(repeat / 3), engine);
    const Floats up = draw(n, scale_of(repeat), engine);
    Expected powers, gated, sums, turned;
    declared_exp({gate.data(), nullptr, n}, how, powers);
    declared_swiglu({gate.data(), up.data(), nullptr, 1, n, n, n, n}, how, gated);
    Arithmetic rest = how;  // of what has no exponential
    rest.exp = 0;
    declared_add({gate.data(), up.data(), nullptr, n}, rest, sums);
    RopeArgs args{};
    args.x = gate.data(), args.cos = up.data(), args.sin = gate.data();
    args.rows = args.heads = args.components = 1;
    args.head_dim = args.rot_dim = args.x_row_stride = args.x_head_stride = n;
    args.table_stride = n / 2;
    declared_rope(args, rest, turned);
    Machine machine(rest, engine);
    for (std::size_t i = 0; i < n; ++i) {
      const double g = read(how, static_cast<double>(gate[i])), u = read(how, static_cast<double>(up[i]));
      const double power = std::exp(g);
      if (power < kFloatMax)
        share.judge(powers, i, static_cast<double>(written(how, static_cast<double>(rough(how, power, how.exp_ulps(), engine)))));
      const float q = exponential(how, -gate[i], engine);
      const float silu = single(how, g / static_cast<double>(single(how, 1 + static_cast<double>(q))));
      share.judge(gated, i, static_cast<double>(written(how, static_cast<double>(silu) * u)));
      share.judge(sums, i, static_cast<double>(written(rest, g + u)));
      const auto j = i % (n / 2);
      const auto c = static_cast<double>(up[j]), s = static_cast<double>(gate[j]);
      const auto x0 = static_cast<double>(gate[j]), x1 = static_cast<double>(gate[j + n / 2]);
      const double y = i < n / 2 ? machine.add(machine.product(x0, c), -machine.product(x1, s))
                                 : machine.add(machine.product(x1, c), machine.product(x0, s));
      share.judge(turned, i, machine.written(y));
    }
  }
  return share;
}

// Key by key, the running sums scaled where the maximum rises.
Share attack_attention(const Arithmetic& how) {
  Engine engine(11);
  Share share;
  constexpr std::int64_t kDim = 16;
  for (int repeat = 0; share.outputs < outputs_of_a_rule(); ++repeat) {
    const auto n = static_cast<std::int64_t>(1 + engine() % 100);
    const bool tiny = repeat % 5 == 1;  // keys of which some are flushed, which large queries make count
    const Floats q = draw(kDim, tiny ? 0x1p120 : repeat % 2 == 0 ? 1 : 4, engine);
    const Floats k = draw(n * kDim, tiny ? 0x1p-124 : 1, engine);
    Floats v = draw(n * kDim, repeat % 7 == 2 ? 0x1p-128 : 1, engine);
    if (repeat % 3 == 0) std::ranges::fill(v, 1.0F);
    const AssayKvSpan span{k.data(), v.data(), 0, n, 0, kDim, 0, kDim};
    AttentionArgs args{};
    args.q = q.data(), args.spans = &span, args.span_count = 1;
    args.rows = args.n_heads = args.n_kv = 1;
    args.head_dim = args.q_row_stride = args.q_head_stride = args.y_row_stride = args.y_head_stride = kDim;
    args.scale = 0.25F;
    Expected expected;
    declared_attention(DType::f32, args, how, expected);
    std::vector<double> rounded(q.begin(), q.end());
    if (how.x != nullptr) how.x->round(rounded);
    Arithmetic scores;
    scores.order = how.order, scores.flush = how.flush;
    Machine dots(scores, engine), machine(how, engine);
    const Number& acc = how.sums();
    float m = -std::numeric_limits<float>::infinity(), l = 0;
    std::vector<double> o(kDim, 0);
    for (std::int64_t j = 0; j < n; ++j) {
      std::vector<double> terms;
      for (std::int64_t c = 0; c < kDim; ++c)
        terms.push_back(
            dots.product(rounded[static_cast<std::size_t>(c)], static_cast<double>(k[static_cast<std::size_t>(j * kDim + c)])));
      const float s = single(how, 0.25 * dots.sum(terms));
      if (s > m) {
        const float c = j == 0 ? 0 : exponential(how, single(how, static_cast<double>(m) - static_cast<double>(s)), engine);
        l = single(how, static_cast<double>(l) * static_cast<double>(c));
        for (double& one : o) one = acc.round(one * static_cast<double>(c));
        m = s;
      }
      const float p = exponential(how, single(how, static_cast<double>(s) - static_cast<double>(m)), engine);
      const double weight = acc.digits < kF32.digits ? acc.round(static_cast<double>(p)) : static_cast<double>(p);
      for (std::int64_t c = 0; c < kDim; ++c) {
        double& one = o[static_cast<std::size_t>(c)];
        one = machine.add(one, machine.product(weight, static_cast<double>(v[static_cast<std::size_t>(j * kDim + c)])));
      }
      l = single(how, static_cast<double>(l) + static_cast<double>(p));
    }
    for (std::size_t c = 0; c < kDim; ++c)
      share.judge(expected, c, static_cast<double>(written(how, o[c] / static_cast<double>(l))));
  }
  return share;
}

constexpr auto kF16Sums = [](Arithmetic& a) { a.acc = find_number("f16"), a.order = {Kind::free, 1}; };
constexpr auto kF64Sums = [](Arithmetic& a) { a.acc = find_number("f64"), a.order = {Kind::free, 1}; };
constexpr auto kFreeSums = [](Arithmetic& a) { a.order = {Kind::free, 1}; };
constexpr auto kFlush = [](Arithmetic& a) { a.flush = true, a.order = {Kind::free, 1}; };
constexpr auto kHalvesOut = [](Arithmetic& a) { a.out = find_number("f16"), a.order = {Kind::free, 1}; };
constexpr auto kRoughExp = [](Arithmetic& a) { a.exp = 1.46, a.order = {Kind::free, 1}; };
constexpr auto kVeryRoughExp = [](Arithmetic& a) { a.exp = 3000, a.order = {Kind::free, 1}; };

std::vector<Rule> sum_rules() {
  return {{"order=free", with(kFreeSums)},
          {"acc=f64", with(kF64Sums)},
          {"acc=f16", with(kF16Sums)},
          {"flush", with(kFlush)},
          {"out=f16", with(kHalvesOut)}};
}
std::vector<Rule> exponential_rules() {
  return {{"exp=1.46", with(kRoughExp)}, {"exp=3000", with(kVeryRoughExp)}};
}
std::vector<Rule> norm_rules() {
  std::vector<Rule> rules = sum_rules();
  rules.push_back({"rsqrt=6144", with([](Arithmetic& a) { a.rsqrt = 6144, a.order = {Kind::lanes, 8}; })});
  return rules;
}
std::vector<Rule> softmax_rules() {
  std::vector<Rule> rules = sum_rules();
  for (const Rule& one : exponential_rules()) rules.push_back(one);
  return rules;
}
std::vector<Rule> element_rules() {
  std::vector<Rule> rules = exponential_rules();
  for (const Rule& one : sum_rules()) rules.push_back(one);
  return rules;
}
std::vector<Rule> attention_rules() {
  std::vector<Rule> rules = softmax_rules();
  rules.push_back({"x=f16;acc=f16", with([](Arithmetic& a) {
                     a.x = find_operand("f16"), a.acc = find_number("f16"), a.order = {Kind::free, 1};
                   })});
  return rules;
}

// Each operand's loss counts, whichever it is.
TEST(DeclaredBounds, OfAddAreTheSameWithItsOperandsExchanged) {
  const Arithmetic how = with(kFlush);
  const Floats small{4e-39F, 4e-39F, 1}, other{1, 0x1p-120F, 0x1p-130F};
  Expected one, two;
  declared_add({small.data(), other.data(), nullptr, 3}, how, one);
  declared_add({other.data(), small.data(), nullptr, 3}, how, two);
  EXPECT_EQ(one.bound, two.bound);
  EXPECT_GE(one.bound[1], static_cast<double>(small[1]) + kF32.normal());
}

TEST(DeclaredBounds, OfNorms) {
  for (const Rule& rule : norm_rules()) expect_near("rms_norm", rule, attack_norm(rule.how));
}
TEST(DeclaredBounds, OfSoftmax) {
  for (const Rule& rule : softmax_rules()) expect_near("softmax", rule, attack_softmax(rule.how));
}
TEST(DeclaredBounds, OfElements) {
  for (const Rule& rule : element_rules()) expect_near("exp, swiglu, add, rope", rule, attack_elements(rule.how));
}
TEST(DeclaredBounds, OfAttention) {
  for (const Rule& rule : attention_rules()) expect_near("attention", rule, attack_attention(rule.how));
}

}  // namespace
}  // namespace assay::reference::declared_sums_test
