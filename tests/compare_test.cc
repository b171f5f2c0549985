// One tensor held to its truth: every class against every other, every place, every byte.
#include "harness/verdict/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "harness/verdict/ledger.h"

namespace assay::compare_test {
namespace {

constexpr float kMost = std::numeric_limits<float>::max();

Array floats(const std::vector<float>& values, std::int64_t rows = 1) {
  Array array{DType::f32, {rows, std::ssize(values) / rows}, std::vector<std::uint8_t>(4 * values.size())};
  std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

Comparison held(const std::vector<float>& values, const std::vector<double>& truth, double bound, std::int64_t rows = 1,
                reference::BiasUnit unit = reference::BiasUnit::output) {
  const Array y = floats(values, rows);
  const reference::Expected expected{truth, std::vector<double>(truth.size(), bound), {}, {}, {}};
  return compare_bounded(output("y", DType::f32, y.shape), y, expected, unit, false);
}

struct ClassRow {
  float value;
  double truth;
  double bound;
  bool right;
};

// Of an output without a bound: a number is wrong where only NaN or an infinity can be.
TEST(Classes, WhatCannotBeFinite) {
  const auto held_by = [](float value, std::uint8_t mark) {
    const Array y = floats({1, value});
    const reference::Expected expected{{1, NAN}, {0, 0}, {0, mark}, {}, {}};
    return compare_bounded(output("y", DType::f32, y.shape), y, expected, reference::BiasUnit::output, false);
  };
  for (const float right : {NAN, INFINITY, -INFINITY}) EXPECT_FALSE(held_by(right, reference::kNotFinite).wrong_class) << right;
  EXPECT_FALSE(held_by(2, 1).wrong_class);
  const Comparison wrong = held_by(2, reference::kNotFinite);
  ASSERT_TRUE(wrong.wrong_class);
  EXPECT_EQ(wrong.wrong_class->index, 1);
  EXPECT_EQ(wrong.wrong_class->want, "NaN or an infinity");
  EXPECT_EQ(wrong.bits_only, 1);
}

TEST(Classes, EveryPair) {
  constexpr double kOverflow = 0x1.ffffffp127;  // from here on a number rounds to infinity
  const ClassRow rows[] = {{NAN, NAN, 0, true},
                           {INFINITY, NAN, 0, false},
                           {-INFINITY, NAN, 0, false},
                           {1, NAN, 0, false},
                           {NAN, INFINITY, 0, false},
                           {NAN, 1, 0x1p100, false},
                           {NAN, 0x1.8p127, 0x1p100, false},
                           {INFINITY, INFINITY, 0, true},
                           {-INFINITY, INFINITY, 0, false},
                           {INFINITY, -INFINITY, 0, false},
                           {kMost, INFINITY, 0, false},
                           {kMost, 0x1p128, 0x1p100, false},
                           {INFINITY, 0x1p128, 0x1p100, true},
                           {-INFINITY, 0x1p128, 0x1p100, false},
                           {kMost, kOverflow, 0x1p100, true},
                           {INFINITY, kOverflow, 0x1p100, true},
                           {-INFINITY, kOverflow, 0x1p100, false},
                           {INFINITY, 0x1.8p127, 0x1p100, false},
                           {INFINITY, 1, 0x1p100, false}};
  for (const ClassRow& row : rows) {
    EXPECT_EQ(!held({row.value}, {row.truth}, row.bound).wrong_class, row.right) << row.value << " for " << row.truth;
    EXPECT_EQ(!held({-row.value}, {-row.truth}, row.bound).wrong_class, row.right) << -row.value << " for " << -row.truth;
  }
  const Comparison two = held({1, NAN, 1, INFINITY, 1}, {1, 1, 1, 1, 1}, 1);
  ASSERT_TRUE(two.wrong_class.has_value());
  EXPECT_EQ(two.wrong_class->index, 1) << "the first";
}

TEST(Bounded, AMissIsSeenWhereverItIs) {
  constexpr std::int64_t kRows = 3, kColumns = 2001;
  std::vector<float> values(kRows * kColumns, 1e-5F);
  const std::vector<double> truth(values.begin(), values.end());
  for (const std::int64_t at : {0, 1, 2, 999, 2000, 2001, 4001, 4096, 4097, 6001, 6002}) {
    for (const float off : {2e-6F, -2e-6F, -2e-5F}) {
      const auto i = static_cast<std::size_t>(at);
      values[i] += off;
      const Comparison found = held(values, truth, 1e-6, kRows);
      EXPECT_NEAR(found.margin, std::fabs(off) / 1e-6, 0.01) << at;
      ASSERT_TRUE(found.worst.has_value());
      EXPECT_EQ(found.worst->index, at);
      values[i] = 1e-5F;
    }
  }
  EXPECT_EQ(held(values, truth, 1e-6, kRows).margin, 0);
  EXPECT_TRUE(std::isinf(held({1e-30F}, {0}, 0).margin)) << "a bound of zero forgives nothing";
  EXPECT_EQ(held({-0.0F}, {0}, 0).margin, 0);
}

TEST(Bytes, EveryByteOfEveryElementCounts) {
  std::vector<float> values(9);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1 + static_cast<float>(i);
  const Array want = floats(values);
  const TensorSpec spec = output("y", DType::f32, want.shape);
  Kept kept;
  kept.values = want;
  EXPECT_FALSE(compare_bytes(spec, want, kept, false).worst);
  for (std::size_t byte = 0; byte < want.bytes.size(); ++byte) {
    Array got = want;
    got.bytes[byte] ^= 1;
    const Comparison found = compare_bytes(spec, got, kept, true);
    ASSERT_TRUE(found.worst.has_value()) << byte;
    EXPECT_EQ(found.worst->index, static_cast<std::int64_t>(byte / 4));
  }
  kept.values = floats({values[2], values[7]});
  kept.index = {2, 7};
  EXPECT_FALSE(compare_bytes(spec, want, kept, false).worst) << "kept for two of them";
}

TEST(Bytes, ANaNIsTakenForANaNOnlyWhereArithmeticMadeIt) {
  const auto compare = [](std::uint32_t got, std::uint32_t want, bool any_nan) {
    Array y = floats({0});
    std::memcpy(y.bytes.data(), &got, sizeof got);
    Kept kept;
    kept.values = floats({0});
    std::memcpy(kept.values.bytes.data(), &want, sizeof want);
    return !compare_bytes(output("y", DType::f32, {1, 1}), y, kept, any_nan).worst;
  };
  EXPECT_TRUE(compare(0x7fc00001, 0x7fc00000, true));
  EXPECT_FALSE(compare(0x7fc00001, 0x7fc00000, false));
  EXPECT_FALSE(compare(0x7fc00000, 0x3f800000, true));
  EXPECT_FALSE(compare(0x3f800000, 0x7fc00000, true));
}

TEST(BiasUnits, AreRowsWhereARowSharesItsError) {
  const std::vector<float> values{1.1F, 1.1F, -2.1F, -2.1F, 3, 3};
  const std::vector<double> truth{1, 1, -2, -2, 3, 3};
  const Comparison single = held(values, truth, 1, 3);
  ASSERT_EQ(single.bias.size(), 4U) << "those without error are dropped";
  EXPECT_NEAR(single.bias[2], 0.1, 1e-6) << "away from zero, as the first";
  const Comparison rows = held(values, truth, 1, 3, reference::BiasUnit::row);
  ASSERT_EQ(rows.bias.size(), 2U);
  EXPECT_NEAR(rows.bias[1], 0.1, 1e-6);
  EXPECT_TRUE(held(values, truth, 1, 3, reference::BiasUnit::none).bias.empty());
}

TEST(BiasUnits, ZIsTheSumInStandardDeviations) {
  std::vector<double> units(400, 0.5);
  EXPECT_NEAR(*bias_z(units), 20, 1e-9);
  for (std::size_t i = 0; i < 200; ++i) units[i] = -0.5;
  EXPECT_NEAR(*bias_z(units), 0, 1e-9);
  units.resize(255);
  EXPECT_EQ(bias_z(units), std::nullopt);
}

TEST(Ledger, TheSameBitsHaveTheSameMarginToFourDigits) {
  for (const double kept : {0.0, 1e-4, 0.1234, 0.9991}) {
    EXPECT_TRUE(is_kept_margin(kept * 1.0004, kept));
    for (const double factor : {1.002, 0.998, 0.25, 4.0, 0.0625, 16.0}) {
      EXPECT_EQ(is_kept_margin(kept * factor + (kept == 0 ? 1e-4 : 0), kept), kept == 1e-4 && std::fabs(factor - 1) < 0.01)
          << kept << " " << factor;
    }
  }
}

}  // namespace
}  // namespace assay::compare_test
