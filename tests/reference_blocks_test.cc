// The references of gemv and gemm over blocks: their bound held to the canonical arithmetic written out plainly, their values to
// the decoded elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "golden/generate.h"
#include "reference/block_dot.h"
#include "reference/block_matvec.h"
#include "reference/bounds.h"

namespace assay::reference::reference_blocks_test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Floats = std::vector<float>;

constexpr Format kWeights[] = {Format::q4_0, Format::q5_0, Format::q8_0, Format::q4_k, Format::q5_k, Format::q6_k};

Format activations_of(Format weight) {
  return dtype_numbers(weight) == 32 ? Format::q8_0 : Format::q8_k;
}

Bytes generated(Format format, const char* distribution, std::uint64_t seed, std::int64_t blocks) {
  Bytes bytes(static_cast<std::size_t>(blocks * block_bytes(format)));
  generate({distribution}, seed, 0, format, blocks, bytes.data());
  return bytes;
}

Floats gaussian(std::uint64_t seed, std::int64_t count) {
  Floats values(static_cast<std::size_t>(count));
  generate({"gauss"}, seed, 0, DType::f32, count, values.data());
  return values;
}

// The roundings of a kernel: to nearest, or the fault under test.
struct Nearest {
  static float round(double exact) { return static_cast<float>(exact); }
  static float fma(float a, float b, float c) { return std::fma(a, b, c); }
};
struct Truncating {
  static float round(double exact) {
    const auto rounded = static_cast<float>(exact);
    return std::abs(static_cast<double>(rounded)) > std::abs(exact) ? std::nextafter(rounded, 0.0F) : rounded;
  }
  static float fma(float a, float b, float c) { return round(static_cast<double>(a) * b + c); }
};

// acc = fma(fl(d_w d_x), float(I1), acc), then acc = fma(-fl(dmin_w d_x), float(I2), acc), blocks ascending.
template <class R>
Floats canonical(Format weight, const ProductArgs& call) {
  const Format activation = activations_of(weight);
  const std::int64_t blocks = call.k / dtype_numbers(weight);
  const IntegerParts parts = integer_parts(weight, activation, call);
  Floats y;
  for (std::int64_t i = 0; i < call.n; ++i) {
    float acc = 0;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const auto at = static_cast<std::size_t>(i * blocks + b);
      const Block w = read_block(weight, static_cast<const std::uint8_t*>(call.w) + at * dtype_size(weight));
      const Block x = read_block(activation, static_cast<const std::uint8_t*>(call.x) + b * block_bytes(activation));
      acc = R::fma(R::round(w.d * x.d), R::round(static_cast<double>(parts.i1[at])), acc);
      if (w.has_min) acc = R::fma(-R::round(w.dmin * x.d), R::round(static_cast<double>(parts.i2[at])), acc);
    }
    y.push_back(acc);
  }
  return y;
}

struct Verdict {
  std::int64_t compared = 0;
  std::int64_t bits_only = 0;
  double worst = 0;

  void judge(const Expected& expected, const Floats& y, const std::string& what) {
    ASSERT_EQ(expected.value.size(), y.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (!expected.bits_only.empty() && expected.bits_only[i] != 0) {
        ++bits_only;
        continue;
      }
      ++compared;
      const double truth = expected.value[i], bound = expected.bound[i], got = static_cast<double>(y[i]);
      if (std::isnan(truth)) {
        ASSERT_TRUE(std::isnan(got)) << what;
        continue;
      }
      ASSERT_TRUE(std::isfinite(truth) && std::isfinite(bound)) << what << " at " << i;
      ASSERT_LE(std::abs(got - truth), bound) << what << " at " << i << ": got " << got << ", truth " << truth;
      if (bound > 0) worst = std::max(worst, std::abs(got - truth) / bound);
    }
  }
};

// Activations whose f32 scales lie anywhere: products of scales underflow and overflow.
void scatter_scales(Bytes& x, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  for (std::size_t at = 0; at < x.size(); at += 292) {
    const auto d = std::ldexp(1.0F + static_cast<float>(engine() % 1024) * 0x1p-10F, static_cast<int>(engine() % 260) - 140);
    std::memcpy(&x[at], &d, sizeof d);
  }
}

TEST(BlockDotBound, CanonicalKernelStaysInside) {
  Verdict verdict;
  std::uint64_t seed = 1;
  for (const Format weight : kWeights) {
    const Format activation = activations_of(weight);
    for (const char* kind : {"blocks", "wide", "denormal", "bits", "zeros"}) {
      for (const std::int64_t blocks : {0, 1, 2, 5, 33}) {
        for (int scattered = 0; scattered < (activation == Format::q8_k ? 2 : 1); ++scattered) {
          constexpr std::int64_t n = 40;
          const Bytes w = generated(weight, kind, seed++, n * blocks);
          Bytes x = generated(activation, "activations", seed++, blocks);
          if (scattered != 0) scatter_scales(x, seed++);
          const ProductArgs call{w.data(), x.data(), nullptr, 1, n, blocks * dtype_numbers(weight), 0, n};
          Expected expected;
          block_dot(weight, activation, call, expected);
          verdict.judge(expected, canonical<Nearest>(weight, call), std::string(dtype_name(weight)) + " " + kind);
        }
      }
    }
  }
  EXPECT_GT(verdict.compared, 5000);
  EXPECT_GT(verdict.bits_only, 10);
  EXPECT_GT(verdict.worst, 0.5);  // few blocks come near the bound: it is no looser than it must be
}

// Every code and scale at its largest, so that the integers are: int16 sums would saturate.
TEST(BlockDotBound, LargestIntegers) {
  Bytes w(144, 0xff), x(292);
  w[0] = w[2] = 0, w[1] = w[3] = 0x3c;  // d = dmin = 1
  const float one = 1;
  std::memcpy(x.data(), &one, sizeof one);
  std::fill(x.begin() + 4, x.begin() + 260, std::uint8_t{0x81});
  const ProductArgs call{w.data(), x.data(), nullptr, 1, 1, 256, 0, 1};
  const IntegerParts parts = integer_parts(Format::q4_k, Format::q8_k, call);
  EXPECT_EQ(parts.i1, std::vector<std::int64_t>{-30723840});
  EXPECT_EQ(parts.i2, std::vector<std::int64_t>{-63 * 127 * 256});
  Expected expected;
  block_dot(Format::q4_k, Format::q8_k, call, expected);
  EXPECT_EQ(expected.value[0], -30723840.0 + 63 * 127 * 256);
}

TEST(BlockDotBound, ValuesByHand) {
  EXPECT_EQ(block_dot_depth(4, true, false), 10);
  EXPECT_EQ(block_dot_depth(4, false, false), 6);
  EXPECT_EQ(block_dot_depth(4, false, true), 4);
  EXPECT_EQ(block_dot_depth(4, true, true), 8);
  EXPECT_EQ(block_dot_bound(0, 1e9, 4, 10), 0);
  EXPECT_DOUBLE_EQ(block_dot_bound(1, 0, 0, 10), g(10));
}

template <class R>
double dot_z(Format weight) {
  constexpr std::int64_t n = 2048;
  const std::int64_t blocks = 1024 / dtype_numbers(weight);
  const Bytes w = generated(weight, "blocks", 71, n * blocks), x = generated(activations_of(weight), "activations", 72, blocks);
  const ProductArgs call{w.data(), x.data(), nullptr, 1, n, 1024, 0, n};
  Expected expected;
  block_dot(weight, activations_of(weight), call, expected);
  const Floats y = canonical<R>(weight, call);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double t = std::copysign(1.0, expected.value[i]) * (static_cast<double>(y[i]) - expected.value[i]) / expected.bound[i];
    sum += t;
    squares += t * t;
  }
  return sum / std::sqrt(squares);
}

TEST(BlockDotBound, BiasSeesTruncation) {
  for (const Format weight : kWeights) {
    EXPECT_LT(std::abs(dot_z<Nearest>(weight)), 6) << dtype_name(weight);
    EXPECT_GT(std::abs(dot_z<Truncating>(weight)), 0.3 * std::sqrt(2048)) << dtype_name(weight);
  }
}

// Against the sum over decoded elements, an order of its own.
TEST(BlockDot, IsTheDotOfTheDecodedBlocks) {
  for (const Format weight : kWeights) {
    const std::int64_t blocks = 3, k = blocks * dtype_numbers(weight);
    const Bytes w = generated(weight, "blocks", 5, blocks), x = generated(activations_of(weight), "activations", 6, blocks);
    Expected expected;
    block_dot(weight, activations_of(weight), {w.data(), x.data(), nullptr, 1, 1, k, 0, 1}, expected);
    long double sum = 0;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const Block wb = read_block(weight, w.data() + b * block_bytes(weight));
      const Block xb = read_block(activations_of(weight), x.data() + b * block_bytes(activations_of(weight)));
      for (int i = 0; i < wb.elements; ++i) sum += static_cast<long double>(wb.value(i)) * static_cast<long double>(xb.value(i));
    }
    EXPECT_NEAR(expected.value[0], static_cast<double>(sum), 0x1p-20 * expected.bound[0]) << dtype_name(weight);
  }
}

TEST(BlockMatvec, IsTheDotOfTheDecodedWeights) {
  for (const Format weight : {Format::q4_k, Format::q8_0}) {
    constexpr std::int64_t n = 3, k = 512;
    const Bytes w = generated(weight, "blocks", 9, n * k / dtype_numbers(weight));
    const Floats x = gaussian(10, k), values = decode(weight, w.data(), n * k);
    Expected expected;
    block_matvec(weight, {w.data(), x.data(), nullptr, 1, n, k, k, n}, expected);
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0, magnitudes = 0;
      for (std::size_t c = 0; c < k; ++c) {
        const double product = static_cast<double>(values[i * k + c]) * static_cast<double>(x[c]);
        sum += product;
        magnitudes += std::abs(product);
      }
      EXPECT_NEAR(expected.value[i], sum, 0x1p-20 * expected.bound[i]);
      EXPECT_NEAR(expected.bound[i], matvec_bound(magnitudes, k), 1e-9 * expected.bound[i]);
    }
  }
}

}  // namespace
}  // namespace assay::reference::reference_blocks_test
