// The model of AMX's tiles against the definition of the instructions (Intel's SDM, volume 2), written down here on plain arrays.
#include <gtest/gtest.h>

#if defined(__x86_64__)
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "harness/verdict/discipline/faults.h"
#include "harness/verdict/discipline/rules.h"
#include "harness/verdict/guard.h"
#include "kernels/products/tile_model.h"

namespace assay::tile_model_test {
namespace {

struct Shape {
  int rows;
  int row_bytes;
};

// Tiles 0, 1, 2 ... of these shapes.
TileConfig config_of(const std::vector<Shape>& shapes) {
  TileConfig config = {};
  config.palette = 1;
  for (std::size_t t = 0; t < shapes.size(); ++t) {
    config.rows[t] = static_cast<std::uint8_t>(shapes[t].rows);
    config.row_bytes[t] = static_cast<std::uint16_t>(shapes[t].row_bytes);
  }
  return config;
}

// A matrix of bytes, rows `stride` apart, all of it random.
struct Bytes {
  Bytes(int rows, int row_stride, std::mt19937& random) : stride(row_stride), at(static_cast<std::size_t>(rows * row_stride)) {
    for (std::uint8_t& byte : at) byte = static_cast<std::uint8_t>(random());
  }
  std::uint8_t byte(int r, int c) const { return at[static_cast<std::size_t>(r * stride + c)]; }
  // Byte c of row r with its sign or without.
  std::int64_t number(int r, int c, bool with_sign) const {
    return with_sign && byte(r, c) >= 128 ? byte(r, c) - 256 : byte(r, c);
  }
  std::uint32_t word(int r, int n) const {
    const auto part = [&](int i) { return static_cast<std::uint32_t>(byte(r, 4 * n + i)) << 8 * i; };
    return part(0) | part(1) | part(2) | part(3);
  }
  int stride;
  std::vector<std::uint8_t> at;
};

struct Form {
  const char* name;
  bool a_signed;
  bool b_signed;
  void (TileModel::*dot)(int sum, int a, int b);
};
const Form kForms[] = {{"TDPBSSD", true, true, &TileModel::dot<std::int8_t, std::int8_t>},
                       {"TDPBSUD", true, false, &TileModel::dot<std::int8_t, std::uint8_t>},
                       {"TDPBUSD", false, true, &TileModel::dot<std::uint8_t, std::int8_t>},
                       {"TDPBUUD", false, false, &TileModel::dot<std::uint8_t, std::uint8_t>}};

// M rows of A, K words of each, N words of a row of B.
struct Product {
  int m;
  int k;
  int n;
};
const Product kProducts[] = {{16, 16, 16}, {16, 8, 16}, {1, 16, 16}, {15, 16, 16}, {16, 1, 1}, {7, 3, 5}, {2, 16, 9}, {1, 1, 1}};

TEST(TileModel, ADotIsTheSumOfProductsOfFourBytesModulo2To32) {
  std::mt19937 random(1);
  for (const Form& form : kForms) {
    for (const auto& [m, k, n] : kProducts) {
      const Bytes sum(m, 4 * n + 8, random);
      const Bytes a(m, 4 * k + 4, random);
      const Bytes b(k, 4 * n, random);
      Bytes out(m, 4 * n + 12, random);
      const Bytes before = out;
      TileModel tiles;
      tiles.configure(config_of({{m, 4 * n}, {m, 4 * k}, {k, 4 * n}}));
      tiles.load(0, sum.at.data(), sum.stride);
      tiles.load(1, a.at.data(), a.stride);
      tiles.load(2, b.at.data(), b.stride);
      (tiles.*form.dot)(0, 1, 2);
      tiles.store(0, out.at.data(), out.stride);
      tiles.release();
      for (int row = 0; row < m; ++row) {
        for (int lane = 0; lane < n; ++lane) {
          std::int64_t expected = sum.word(row, lane);
          for (int i = 0; i < 4 * k; ++i)
            expected += a.number(row, i, form.a_signed) * b.number(i / 4, 4 * lane + i % 4, form.b_signed);
          EXPECT_EQ(out.word(row, lane), static_cast<std::uint32_t>(expected)) << form.name << " " << m << " " << k << " " << n;
        }
        for (int c = 4 * n; c < out.stride; ++c) EXPECT_EQ(out.byte(row, c), before.byte(row, c)) << "past a row's bytes";
      }
    }
  }
}

TEST(TileModel, TheFormsDifferInTheSignsAlone) {
  const std::uint8_t a[4] = {200, 0, 0, 0};
  const std::uint8_t b[4] = {250, 0, 0, 0};
  const std::int32_t expected[] = {-56 * -6, -56 * 250, 200 * -6, 200 * 250};
  for (std::size_t f = 0; f < std::size(kForms); ++f) {
    std::int32_t sum = 0;
    TileModel tiles;
    tiles.configure(config_of({{1, 4}, {1, 4}, {1, 4}}));
    tiles.load(1, a, 4);
    tiles.load(2, b, 4);
    (tiles.*kForms[f].dot)(0, 1, 2);
    tiles.store(0, &sum, 4);
    tiles.release();
    EXPECT_EQ(sum, expected[f]) << kForms[f].name;
  }
}

TEST(TileModel, ASumWrapsAround) {
  const std::int32_t most = INT32_MAX;
  const std::int8_t one[4] = {1, 0, 0, 0};
  std::int32_t sum = 0;
  TileModel tiles;
  tiles.configure(config_of({{1, 4}, {1, 4}, {1, 4}}));
  tiles.load(0, &most, 4);
  tiles.load(1, one, 4);
  tiles.load(2, one, 4);
  tiles.dot<std::int8_t, std::int8_t>(0, 1, 2);
  tiles.store(0, &sum, 4);
  tiles.release();
  EXPECT_EQ(sum, INT32_MIN);
}

// Expects zeros in a tile past its rows and past their bytes, and something else in them.
void expect_zeros_outside(const TileModel& tiles, int tile, Shape shape, const char* after) {
  bool any = false;
  for (int r = 0; r < kRowsOfTile; ++r) {
    for (int c = 0; c < kBytesOfTile; ++c) {
      const bool inside = r < shape.rows && c < shape.row_bytes;
      const int byte = tiles.row(tile, r)[c];
      any = any || (inside && byte != 0);
      ASSERT_TRUE(inside || byte == 0) << after << ": row " << r << ", byte " << c << " is " << byte;
    }
  }
  EXPECT_EQ(any, shape.rows > 0) << after;
}

TEST(TileModel, PastATilesRowsAndTheirBytesThereAreZeros) {
  std::mt19937 random(2);
  const Bytes bytes(16, 64, random);
  const Shape sum = {5, 12}, a = {5, 24}, b = {6, 12};
  TileModel tiles;
  tiles.configure(config_of({sum, a, b}));
  tiles.load(0, bytes.at.data(), 64);
  expect_zeros_outside(tiles, 0, sum, "TILELOADD");
  tiles.load(1, bytes.at.data(), 64);
  tiles.load(2, bytes.at.data(), 64);
  expect_zeros_outside(tiles, 1, a, "TILELOADD");
  expect_zeros_outside(tiles, 2, b, "TILELOADD");
  tiles.dot<std::int8_t, std::uint8_t>(0, 1, 2);
  expect_zeros_outside(tiles, 0, sum, "TDPBSUD");
  tiles.zero(0);
  expect_zeros_outside(tiles, 0, {0, 0}, "TILEZERO");
  expect_zeros_outside(tiles, 1, a, "TILEZERO of another");
  tiles.configure(config_of({sum, a, b}));
  expect_zeros_outside(tiles, 1, {0, 0}, "LDTILECFG");
  tiles.load(1, bytes.at.data(), 64);
  tiles.release();
  expect_zeros_outside(tiles, 1, {0, 0}, "TILERELEASE");
  EXPECT_FALSE(tiles.configured());
}

TEST(TileModel, ALoadTakesItsStrideAndNoByteBesides) {
  GuardedMemory memory(1);
  std::uint8_t* const rows = memory.end() - (2 * 100 + 8);
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 8; ++c) rows[100 * r + c] = static_cast<std::uint8_t>(10 * r + c + 1);
  }
  TileModel tiles;
  tiles.configure(config_of({{3, 8}}));
  EXPECT_FALSE(catch_faults([&] { tiles.load(0, rows, 100); }));
  for (int r = 0; r < 3; ++r) EXPECT_EQ(std::memcmp(tiles.row(0, r), rows + 100 * r, 8), 0) << r;
  EXPECT_FALSE(catch_faults([&] { tiles.store(0, rows, 100); }));
  tiles.release();
}

// The reason of the fault that `act` ends in; empty: none.
std::string reason(const std::function<void()>& act) {
  const auto fault = catch_faults(act);
  if (!fault) return "";
  return fault->text.empty() ? "a fault of the test's own" : fault->text;
}
void expect_fault(const std::function<void()>& act, const std::string& part) {
  const std::string found = reason(act);
  EXPECT_NE(found.find(part), std::string::npos) << "'" << found << "', expected: " << part;
}

TEST(TileModel, AConfigurationIsCheckedAsTheCpuDoes) {
  struct Wrong {
    const char* part;
    std::function<void(TileConfig&)> change;
  };
  const Wrong wrongs[] = {
      {"a palette that there is not (#GP)", [](TileConfig& c) { c.palette = 2; }},
      {"a palette that there is not (#GP)", [](TileConfig& c) { c.palette = 255; }},
      {"a start row", [](TileConfig& c) { c.start_row = 1; }},
      {"reserved byte", [](TileConfig& c) { c.reserved[0] = 1; }},
      {"reserved byte", [](TileConfig& c) { c.reserved[13] = 1; }},
      {"reserved byte", [](TileConfig& c) { c.row_bytes[8] = 64; }},
      {"reserved byte", [](TileConfig& c) { c.row_bytes[15] = 0x100; }},
      {"reserved byte", [](TileConfig& c) { c.rows[8] = 16; }},
      {"reserved byte", [](TileConfig& c) { c.rows[15] = 1; }},
      {"more than 16 rows (#GP)", [](TileConfig& c) { c.rows[7] = 17; }},
      {"more than 64 bytes (#GP)", [](TileConfig& c) { c.row_bytes[0] = 65; }},
      {"rows or bytes alone (#GP)", [](TileConfig& c) { c.rows[1] = 0; }},
      {"rows or bytes alone (#GP)", [](TileConfig& c) { c.row_bytes[1] = 0; }},
  };
  const TileConfig right = config_of({{16, 64}, {16, 64}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {16, 64}});
  TileModel tiles;
  EXPECT_EQ(reason([&] { tiles.configure(right); }), "");
  for (const Wrong& wrong : wrongs) {
    TileConfig config = right;
    wrong.change(config);
    expect_fault([&] { tiles.configure(config); }, wrong.part);
  }
  TileConfig palette0 = right;
  palette0.palette = 0;
  palette0.reserved[0] = 1;  // nobody looks
  EXPECT_EQ(reason([&] { tiles.configure(palette0); }), "");
  EXPECT_FALSE(tiles.configured()) << "palette 0 releases";
}

TEST(TileModel, WhatIsNotConfiguredMustNotBeUsed) {
  std::uint8_t bytes[64] = {};
  const std::function<void(TileModel&)> uses[] = {
      [](TileModel& t) { t.zero(3); },
      [&](TileModel& t) { t.load(3, bytes, 64); },
      [&](TileModel& t) { t.store(3, bytes, 64); },
      [](TileModel& t) { t.dot<std::int8_t, std::int8_t>(3, 1, 2); },
      [](TileModel& t) { t.dot<std::int8_t, std::int8_t>(0, 3, 2); },
      [](TileModel& t) { t.dot<std::int8_t, std::int8_t>(0, 1, 3); },
  };
  for (const auto& use : uses) {
    TileModel tiles;
    expect_fault([&] { use(tiles); }, "none is configured (#UD)");
    tiles.configure(config_of({{1, 4}, {1, 4}, {1, 4}}));
    expect_fault([&] { use(tiles); }, "that is not configured (#UD)");
    tiles.release();
    expect_fault([&] { use(tiles); }, "none is configured (#UD)");
  }
}

TEST(TileModel, TilesOfADotFitEachOther) {
  struct Wrong {
    const char* part;
    std::vector<Shape> shapes;  // of the sum, A and B
  };
  const Wrong wrongs[] = {
      {"do not fit", {{16, 64}, {15, 64}, {16, 64}}},  // rows of the sum and of A
      {"do not fit", {{16, 64}, {16, 64}, {15, 64}}},  // words of a row of A and rows of B
      {"do not fit", {{16, 64}, {16, 64}, {16, 60}}},  // bytes of a row of the sum and of B
      {"part of four bytes", {{16, 62}, {16, 64}, {16, 62}}}, {"part of four bytes", {{16, 64}, {16, 63}, {15, 64}}},
  };
  for (const Wrong& wrong : wrongs) {
    TileModel tiles;
    tiles.configure(config_of(wrong.shapes));
    expect_fault([&] { tiles.dot<std::int8_t, std::int8_t>(0, 1, 2); }, wrong.part);
    tiles.release();
  }
  TileModel tiles;
  tiles.configure(config_of({{16, 64}, {16, 64}, {16, 64}}));
  for (const auto& [sum, a, b] : {std::array{0, 0, 2}, std::array{0, 1, 0}, std::array{0, 1, 1}})
    expect_fault([&] { tiles.dot<std::int8_t, std::int8_t>(sum, a, b); }, "one tile twice (#UD)");
  tiles.release();
}

TEST(TileModel, TilesThatAreStillConfiguredAreAFault) {
  expect_fault(
      [] {
        TileModel tiles;
        tiles.configure(config_of({{1, 4}}));
      },
      kTilesLeft);
}

}  // namespace
}  // namespace assay::tile_model_test

#else

TEST(TileModel, IsOfX86) {
  GTEST_SKIP() << "another architecture's";
}

#endif
