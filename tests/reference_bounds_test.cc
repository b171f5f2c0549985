// The bounds of docs/numerics.md, held to the canonical arithmetic written out plainly: an fp32 kernel that rounds where
// it must stays inside them on every kind of data, and one that truncates stands out in z.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "reference/bounds.h"
#include "reference/elementwise.h"
#include "reference/matvec.h"
#include "reference/rms_norm.h"
#include "reference/rope.h"
#include "reference/softmax.h"

namespace assay::reference::reference_bounds_test {
namespace {

using Floats = std::vector<float>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The roundings of a kernel: to nearest, or the fault under test.
struct Nearest {
  static float fma(float a, float b, float c) { return std::fma(a, b, c); }
  static float add(float a, float b) { return a + b; }
};

// Toward zero. A product and fp64's sum are rounded once more in fp64, which changes one result in 2^29.
struct Truncating {
  static float toward_zero(double exact) {
    const auto rounded = static_cast<float>(exact);
    return std::abs(static_cast<double>(rounded)) > std::abs(exact) ? std::nextafter(rounded, 0.0F) : rounded;
  }
  static float fma(float a, float b, float c) { return toward_zero(static_cast<double>(a) * b + c); }
  static float add(float a, float b) { return toward_zero(static_cast<double>(a) + b); }
};

float canonical_exp(float x) {
  if (std::isnan(x)) return kNan;
  if (x > 0x1.62e42ep6F) return kInf;
  if (x < -104) return 0;
  const float n = std::rint(x * 0x1.715476p0F);
  float r = std::fma(n, -0x1.62e4p-1F, x);
  r = std::fma(n, -0x1.7f7d1cp-20F, r);
  float p = 0x1.a01a02p-13F;
  for (const float c : {0x1.6c16c2p-10F, 0x1.111112p-7F, 0x1.555556p-5F, 0x1.555556p-3F, 0.5F, 1.0F, 1.0F}) p = std::fma(p, r, c);
  const auto power = static_cast<int>(n);
  return p * std::ldexp(1.0F, power / 2) * std::ldexp(1.0F, power - power / 2);
}

template <class R>
float canonical_dot(const float* w, std::int64_t w_step, const float* x, std::int64_t k) {
  float total = 0;
  for (std::int64_t first = 0; first < k; first += 64) {
    float acc = 0;
    for (std::int64_t c = first; c < std::min(first + 64, k); ++c) acc = R::fma(w[c * w_step], x[c], acc);
    total = first == 0 ? acc : R::add(total, acc);
  }
  return total;
}

// 16 partial sums of step(i, sum), then the tree l + (l+8), +4, +2, +1.
template <class Step>
float canonical_sum16(std::int64_t n, Step step) {
  float sums[16] = {};
  for (std::int64_t i = 0; i < n; ++i) sums[i % 16] = step(i, sums[i % 16]);
  for (int width = 8; width >= 1; width /= 2)
    for (int lane = 0; lane < width; ++lane) sums[lane] += sums[lane + width];
  return sums[0];
}

void canonical_rms_norm_row(const float* x, const float* w, std::int64_t n, float eps, float* y) {
  const float dot = canonical_sum16(n, [x](std::int64_t i, float sum) { return std::fma(x[i], x[i], sum); });
  const float r = 1 / std::sqrt(dot / static_cast<float>(n) + eps);
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] * r * w[i];
}

void canonical_softmax_row(const float* x, std::int64_t n, float* y) {
  float max = -kInf;
  for (std::int64_t i = 0; i < n; ++i) max = std::isnan(x[i]) || std::isnan(max) ? kNan : std::max(max, x[i]);
  for (std::int64_t i = 0; i < n; ++i) y[i] = canonical_exp(x[i] - max);
  const float total = canonical_sum16(n, [y](std::int64_t i, float sum) { return sum + y[i]; });
  for (std::int64_t i = 0; i < n; ++i) y[i] /= total;
}

// Gaussian numbers, scaled by powers of two or mixed with special ones.
enum Kind { gauss, wide, tiny, huge, sparse, classes, kinds };

Floats random_floats(Kind kind, std::uint64_t seed, std::int64_t count) {
  constexpr int low[kinds] = {0, -60, -149, 20, 0, 0};
  constexpr int range[kinds] = {1, 120, 90, 50, 1, 1};
  constexpr float special[] = {kNan, kInf, -kInf, FLT_MAX, -0x1p-149F, 0x1p-140F, -0.0F};
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  Floats values(static_cast<std::size_t>(count));
  for (float& value : values) {
    const auto word = static_cast<std::uint32_t>(engine());
    value = std::ldexp(static_cast<float>(normal(engine)), low[kind] + static_cast<int>(word % 1024) % range[kind]);
    if (kind == sparse && word % 3 == 0) value = 0;
    if (kind == classes && word % 211 < std::size(special)) value = special[word % 211];
    if (kind == classes && word % 97 == 0) value = std::bit_cast<float>(static_cast<std::uint32_t>(engine()));
  }
  return values;
}

// The verdict on one output: classes, then |y - truth| <= B. Counts what was compared.
struct Verdict {
  std::int64_t compared = 0;
  double worst = 0;

  void judge(const Expected& expected, const Floats& y, const std::string& what) {
    ASSERT_EQ(expected.value.size(), y.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (!expected.bits_only.empty() && expected.bits_only[i] != 0) continue;
      ++compared;
      ASSERT_TRUE(holds(expected.value[i], expected.bound[i], static_cast<double>(y[i])))
          << what << " at " << i << ": got " << y[i] << ", truth " << expected.value[i] << ", bound " << expected.bound[i];
    }
  }

  bool holds(double truth, double bound, double got) {
    constexpr double kThreshold = 0x1.ffffffp127;  // from here on fp32 rounds to infinity
    if (std::isnan(truth)) return std::isnan(got);
    if (!std::isfinite(bound) || bound < 0) return false;
    if (std::abs(truth) - bound >= kThreshold) return std::isinf(got) && std::signbit(got) == std::signbit(truth);
    if (std::isinf(got) && std::abs(truth) + bound >= kThreshold) return true;
    if (bound > 0) worst = std::max(worst, std::abs(got - truth) / bound);
    return std::abs(got - truth) <= bound;
  }
};

// docs/numerics.md, "Bias z", with single outputs as units: t = sign(truth) e / B, z = sum t / sqrt(sum t^2).
double bias_z(const Expected& expected, const Floats& y) {
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double t = std::copysign(1.0, expected.value[i]) * (static_cast<double>(y[i]) - expected.value[i]) / expected.bound[i];
    sum += t;
    squares += t * t;
  }
  return sum / std::sqrt(squares);
}

class EveryKind : public testing::TestWithParam<int> {
 protected:
  Floats data(std::uint64_t seed, std::int64_t count) const { return random_floats(static_cast<Kind>(GetParam()), seed, count); }
};
INSTANTIATE_TEST_SUITE_P(Bounds, EveryKind, testing::Range(0, static_cast<int>(kinds)));

template <class R>
Floats canonical_matvec(const Floats& w, const Floats& x, std::int64_t n, std::int64_t k) {
  Floats y;
  for (std::int64_t i = 0; i < n; ++i) y.push_back(canonical_dot<R>(w.data() + i / 32 * 32 * k + i % 32, 32, x.data(), k));
  return y;
}

TEST_P(EveryKind, MatvecStaysInside) {
  Verdict verdict;
  std::uint64_t seed = 1;
  for (const std::int64_t k : {0, 1, 2, 7, 63, 64, 65, 129, 1000}) {
    for (int repeat = 0; repeat < 6; ++repeat) {
      const Floats w = data(seed++, 64 * k), x = data(seed++, k);
      Expected expected;
      matvec(DType::f32, {w.data(), x.data(), nullptr, 1, 37, k, k, 37}, expected);
      verdict.judge(expected, canonical_matvec<Nearest>(w, x, 37, k), "matvec_f32 k=" + std::to_string(k));
    }
  }
  EXPECT_GT(verdict.compared, 500);
}

TEST_P(EveryKind, RmsNormAndSoftmaxStayInside) {
  Verdict verdict;
  std::uint64_t seed = 1000;
  for (const std::int64_t n : {1, 2, 15, 16, 17, 128, 300, 3000}) {
    for (const float eps : {FLT_MIN, 1e-6F, 1.0F}) {
      Floats x = data(seed++, n);
      const Floats w = data(seed++, n);
      Floats y(x.size());
      Expected expected;
      canonical_rms_norm_row(x.data(), w.data(), n, eps, y.data());
      rms_norm({x.data(), w.data(), nullptr, 1, n, n, n, eps}, expected);
      verdict.judge(expected, y, "rms_norm n=" + std::to_string(n));
      for (float& value : x) value *= eps == 1 ? 1.0F : 30.0F;
      canonical_softmax_row(x.data(), n, y.data());
      softmax({x.data(), nullptr, 1, n, n, n}, expected);
      verdict.judge(expected, y, "softmax n=" + std::to_string(n));
    }
  }
  EXPECT_GT(verdict.compared, 5000);
}

TEST_P(EveryKind, ElementwiseStaysInside) {
  constexpr std::int64_t n = 60000;
  Floats a = data(3000, n);
  const Floats b = data(3001, n);
  for (std::size_t i = 0; i < a.size(); i += 2) a[i] *= 40;  // exp's and swiglu's far ends
  Floats sums(n), powers(n), gated(n);
  for (std::size_t i = 0; i < a.size(); ++i) {
    sums[i] = a[i] + b[i];
    powers[i] = canonical_exp(a[i]);
    gated[i] = a[i] / (1 + canonical_exp(-a[i])) * b[i];
  }
  Expected expected;
  Verdict verdict;
  add({a.data(), b.data(), nullptr, n}, expected);
  verdict.judge(expected, sums, "add");
  exp({a.data(), nullptr, n}, expected);
  verdict.judge(expected, powers, "exp");
  swiglu({a.data(), b.data(), nullptr, 1, n, n, n, n}, expected);
  verdict.judge(expected, gated, "swiglu");
  EXPECT_GT(verdict.compared, 100000);
}

TEST_P(EveryKind, RopeStaysInside) {
  constexpr std::int64_t rows = 150, pairs = 32, dim = 80;
  const Floats x = data(4000, rows * dim), cos = data(4001, rows * pairs), sin = data(4002, rows * pairs);
  Floats y(x);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < pairs; ++i) {
      const std::size_t i0 = row * dim + i, i1 = i0 + pairs;
      const float c = cos[row * pairs + i], s = sin[row * pairs + i];
      y[i0] = std::fma(x[i0], c, -(x[i1] * s));
      y[i1] = std::fma(x[i1], c, x[i0] * s);
    }
  RopeArgs args{};
  args.x = x.data(), args.cos = cos.data(), args.sin = sin.data();
  args.rows = rows, args.heads = 1, args.head_dim = dim, args.rot_dim = 2 * pairs, args.components = 1;
  args.x_row_stride = args.x_head_stride = dim, args.table_stride = pairs;
  Expected expected;
  Verdict verdict;
  rope(args, expected);
  verdict.judge(expected, y, "rope");
  EXPECT_GT(verdict.compared, 1000);
}

TEST(Bounds, ValuesByHand) {
  EXPECT_EQ(g(0), 0);
  EXPECT_DOUBLE_EQ(g(1 << 23), 1);  // k u = 1/2
  EXPECT_EQ(matvec_depth(63), 64);
  EXPECT_EQ(matvec_depth(1024), 80);
  EXPECT_EQ(dot16_depth(129), 13);
  EXPECT_EQ(float_ulp(0x1.fffffffp0), 0x1p-23);
  EXPECT_EQ(float_ulp(0x1p-130), 0x1p-149);
  EXPECT_EQ(exp_bound(1), 0.939 * 0x1p-23);
  EXPECT_EQ(add_bound(-8), 0x1p-21);
  EXPECT_NEAR(matvec_bound(1, 1024), 80 * 0x1p-24, 1e-10);
  EXPECT_NEAR(swiglu_bound(0x1p-40, 1, 1), (3 + 0.939) * 0x1p-24, 1e-12);
  EXPECT_NEAR(rms_norm_relative(16) * 0x1p24, 4 + 7.0 / 2, 1e-4);
  EXPECT_DOUBLE_EQ(rope_bound(1), g(2));
  EXPECT_TRUE(may_overflow(kFloatMax, 1));
  EXPECT_FALSE(may_overflow(kFloatMax / 2, 1));
}

TEST(Bounds, NothingIsForgivenAtZero) {
  EXPECT_EQ(matvec_bound(0, 1000) + add_bound(0) + rope_bound(0) + rope_table_bound(0) + swiglu_bound(0, 3, 0), 0);
}

TEST(Bounds, GrowWithWhatTheyMeasure) {
  for (std::int64_t k = 1; k < 5000; ++k) {
    ASSERT_LE(matvec_bound(1, k), matvec_bound(1, k + 1));
    ASSERT_LE(rms_norm_relative(k), rms_norm_relative(k + 1));
    ASSERT_GE(g(k), static_cast<double>(k) * kU);
  }
  for (int exponent = -160; exponent < 126; ++exponent) {
    const double y = std::ldexp(1.7, exponent);
    ASSERT_LE(exp_bound(y), exp_bound(2 * y));
    ASSERT_LE(rope_table_bound(y), rope_table_bound(2 * y));
    ASSERT_LE(rms_norm_bound(y, 1, 64), rms_norm_bound(2 * y, 1, 64));
  }
}

template <class R>
double matvec_z() {
  constexpr std::int64_t n = 2048, k = 1024;
  const Floats w = random_floats(gauss, 5000, n * k), x = random_floats(gauss, 5001, k);
  const Floats y = canonical_matvec<R>(w, x, n, k);
  Expected expected;
  matvec(DType::f32, {w.data(), x.data(), nullptr, 1, n, k, k, n}, expected);
  Verdict verdict;
  verdict.judge(expected, y, "matvec");
  EXPECT_LT(verdict.worst, 0.1);  // the bound's worst case is far away: it forgives truncation, too
  return bias_z(expected, y);
}

TEST(BiasZ, SeesTruncationThatTheBoundForgives) {
  EXPECT_LT(std::abs(matvec_z<Nearest>()), 6);
  EXPECT_GT(std::abs(matvec_z<Truncating>()), 0.5 * std::sqrt(2048));
}

}  // namespace
}  // namespace assay::reference::reference_bounds_test
