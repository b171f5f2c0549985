// The bounds of declared products (docs/numerics.md), attacked: an emulation that rounds where the declaration says, over random and
// adversarial numbers, stays inside each, and its worst case comes near.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "reference/declared_product.h"
#include "reference/decode.h"
#include "reference/linear.h"
#include "tests/declared_support.h"

namespace assay::reference::declared_bounds_test {
namespace {

// A call of a matvec in f32: tile-major w, one row of x.
struct Numbers {
  std::int64_t n = 32, k = 0;
  std::vector<float> w, x;
  float& weight(std::int64_t row, std::int64_t c) { return w[static_cast<std::size_t>(c * 32 + row)]; }
};

enum Data { gauss, wide, tiny, large, stuck, kinds };

// large: of which some products, or sums, overflow in f16. stuck: in each row one number in front of, or among, others of just half its last place, all of whose roundings lean to one side.
Numbers numbers(Data data, const Arithmetic& how, Engine& engine) {
  Numbers made;
  made.k = 1 + static_cast<std::int64_t>(engine() % 150);
  std::normal_distribution<double> normal;
  const int low = data == wide ? -40 : data == tiny ? -80 : data == large ? 4 : 0;
  const int range = data == wide ? 30 : data == tiny ? 30 : data == large ? 5 : 1;
  const auto draw = [&] {
    return static_cast<float>(std::ldexp(normal(engine), low + static_cast<int>(engine() % 1024) % range));
  };
  for (std::int64_t i = 0; i < 32 * made.k; ++i) made.w.push_back(draw());
  for (std::int64_t i = 0; i < made.k; ++i) made.x.push_back(data == stuck ? 1.0F : draw());
  if (data == tiny && engine() % 2 == 0) {  // denormal activations by large weights
    for (float& one : made.x) one = std::ldexp(one, -70);
    for (float& one : made.w) one = std::ldexp(one, 100);
  }
  if (data != stuck) return made;
  const auto half = static_cast<float>(std::max(how.sums().u(), 0x1p-24));
  for (std::int64_t row = 0; row < 32; ++row) {
    const auto large = row % 2 == 0 ? 0 : static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(made.k));
    const float small = row % 4 < 2 ? half : std::nextafter(half, 0.0F);
    for (std::int64_t c = 0; c < made.k; ++c) made.weight(row, c) = c == large ? 1.0F : small;
  }
  return made;
}

Share attack(const Arithmetic& how) {
  Engine engine(7);
  Share share;
  for (int repeat = 0; share.outputs < outputs_of_a_rule(); ++repeat) {
    Numbers made = numbers(static_cast<Data>(repeat % kinds), how, engine);
    Expected expected;
    declared_product(DType::f32, {made.w.data(), made.x.data(), nullptr, 1, made.n, made.k, made.k, made.n}, how, expected);
    std::vector<double> x(made.x.begin(), made.x.end());
    if (how.x != nullptr) how.x->round(x);
    for (std::int64_t row = 0; row < made.n; ++row) {
      std::vector<double> w;
      for (std::int64_t c = 0; c < made.k; ++c) w.push_back(static_cast<double>(made.weight(row, c)));
      if (how.w != nullptr) how.w->round(w);
      Machine machine(how, engine);
      std::vector<double> terms;
      for (std::size_t c = 0; c < w.size(); ++c) terms.push_back(machine.product(w[c], x[c]));
      share.judge(expected, static_cast<std::size_t>(row), machine.written(machine.sum(terms)));
    }
  }
  return share;
}

std::vector<Rule> product_rules() {
  return {
      {"acc=f64", with([](Arithmetic& a) { a.acc = find_number("f64"); })},
      {"order=free", with([](Arithmetic& a) {
         a.order = {Kind::free, 1};
       })},
      {"order=lanes:8", with([](Arithmetic& a) {
         a.order = {Kind::lanes, 8};
       })},
      {"order=lanes:64", with([](Arithmetic& a) {
         a.order = {Kind::lanes, 64};
       })},
      {"order=blocks:16", with([](Arithmetic& a) {
         a.order = {Kind::blocks, 16};
       })},
      {"order=tree", with([](Arithmetic& a) {
         a.order = {Kind::tree, 1};
       })},
      {"order=tree:8", with([](Arithmetic& a) {
         a.order = {Kind::tree, 8};
       })},
      {"acc=f16", with([](Arithmetic& a) { a.acc = find_number("f16"); })},
      {"acc=f16;order=lanes:8", with([](Arithmetic& a) {
         a.acc = find_number("f16"), a.order = {Kind::lanes, 8};
       })},
      {"acc=bf16;order=free", with([](Arithmetic& a) {
         a.acc = find_number("bf16"), a.order = {Kind::free, 1};
       })},
      {"products=f16;order=free", with([](Arithmetic& a) {
         a.products = find_number("f16"), a.order = {Kind::free, 1};
       })},
      {"products=bf16;acc=f16", with([](Arithmetic& a) { a.products = find_number("bf16"), a.acc = find_number("f16"); })},
      {"x=f16", with([](Arithmetic& a) { a.x = find_operand("f16"); })},
      {"x=bf16;w=bf16;flush;order=free", with([](Arithmetic& a) {
         a.x = a.w = find_operand("bf16"), a.flush = true, a.order = {Kind::free, 1};
       })},
      {"x=q8_0;w=q8_0", with([](Arithmetic& a) { a.x = a.w = find_operand("q8_0"); })},
      {"flush", with([](Arithmetic& a) { a.flush = true; })},
      {"out=f16", with([](Arithmetic& a) { a.out = find_number("f16"); })},
      {"acc=f64;out=bf16", with([](Arithmetic& a) { a.acc = find_number("f64"), a.out = find_number("bf16"); })},
  };
}

// q8_0 by q8_0: each block's integers in lanes of their own, then by the scales, as vector registers have it.
struct Block8 {
  std::uint16_t d;
  std::int8_t code[32];
};
static_assert(sizeof(Block8) == 34);

// stuck: a block, or one number of it, among others of half its last place, lane by lane.
std::vector<Block8> blocks(bool stuck, bool weights, std::int64_t count, Engine& engine) {
  std::vector<Block8> made(static_cast<std::size_t>(count));
  for (std::size_t b = 0; b < made.size(); ++b) {
    made[b].d = stuck ? (b == 0 || !weights ? 0x3c00 : 0x0001) : static_cast<std::uint16_t>(0x3000 + engine() % 0x1000);
    for (std::int8_t& code : made[b].code) code = stuck ? 1 : static_cast<std::int8_t>(static_cast<int>(engine() % 255) - 127);
  }
  if (stuck && weights && engine() % 2 == 0) std::fill(made[0].code + 1, made[0].code + 32, std::int8_t{0});
  return made;
}

// One row: 0 lanes, each element by itself, one after the other.
double sum_of_blocks(Machine& machine, const Block8* w, const std::vector<Block8>& x, int lanes) {
  const int step = lanes == 0 ? 32 : lanes;
  std::vector<double> sums(static_cast<std::size_t>(std::max(lanes, 1)), 0);
  for (std::size_t b = 0; b < x.size(); ++b) {
    const double scale = Half::decode(w[b].d) * Half::decode(x[b].d);
    for (int lane = 0; lane < step; ++lane) {
      std::int32_t integer = 0;
      for (int i = lane; i < 32; i += step) integer += w[b].code[i] * x[b].code[i];
      double& sum = sums[static_cast<std::size_t>(lane) % sums.size()];
      sum = machine.add(sum, machine.product(scale, integer));
    }
  }
  double total = sums[0];
  for (std::size_t lane = 1; lane < sums.size(); ++lane) total = machine.add(total, sums[lane]);
  return machine.written(total);
}

Share attack_blocks(const Arithmetic& how, int lanes) {
  constexpr std::int64_t kRows = 16;
  Engine engine(12);
  Share share;
  for (int repeat = 0; share.outputs < outputs_of_a_rule(); ++repeat) {
    const auto count = static_cast<std::int64_t>(1 + engine() % 60);
    const bool stuck = repeat % 4 == 0;
    const std::vector<Block8> x = blocks(stuck, false, count, engine);
    std::vector<Block8> w;
    for (int row = 0; row < kRows; ++row) {
      const std::vector<Block8> one = blocks(stuck, true, count, engine);
      w.insert(w.end(), one.begin(), one.end());
    }
    Expected expected;
    declared_blocks(DType::q8_0, DType::q8_0, {w.data(), x.data(), nullptr, 1, kRows, 32 * count, count, kRows}, how, expected);
    Machine machine(how, engine);
    for (std::int64_t row = 0; row < kRows; ++row)
      share.judge(expected, static_cast<std::size_t>(row), sum_of_blocks(machine, w.data() + row * count, x, lanes));
  }
  return share;
}

TEST(DeclaredBounds, OfBlocks) {
  for (const auto& [rule, lanes] : {std::pair<Rule, int>{{"order=lanes:8", with([](Arithmetic& a) {
                                                            a.order = {Kind::lanes, 8};
                                                          })},
                                                         8},
                                    {{"order=free", with([](Arithmetic& a) {
                                        a.order = {Kind::free, 1};
                                      })},
                                     0},
                                    {{"acc=f16;order=lanes:8", with([](Arithmetic& a) {
                                        a.acc = find_number("f16"), a.order = {Kind::lanes, 8};
                                      })},
                                     8},
                                    {{"acc=f64;order=free", with([](Arithmetic& a) {
                                        a.acc = find_number("f64"), a.order = {Kind::free, 1};
                                      })},
                                     0},
                                    {{"out=f16", with([](Arithmetic& a) { a.out = find_number("f16"); })}, 1}})
    expect_near("blocks", rule, attack_blocks(rule.how, lanes));
}

// fl(x fl(127 / amax)) and fl(x / fl(amax / 127)) lie on either side of a tie: the first counts.
TEST(DeclaredBounds, CodesOfARowAreProducts) {
  int apart = 0;
  for (int i = 0; i < 1000; ++i) {
    const float most = 1 + static_cast<float>(i) / 1024;
    const float scale = most / 127;
    const float inverse = 127 / most;
    const float x = (static_cast<float>(i % 126) + 0.5F) * scale;
    const float code = std::nearbyint(x * inverse);
    if (code == std::nearbyint(x / scale)) continue;
    ++apart;
    std::vector<double> row{static_cast<double>(most), static_cast<double>(x)};
    ASSERT_TRUE(find_operand("i8_row")->round(row));
    EXPECT_EQ(row[1], static_cast<double>(scale) * static_cast<double>(code)) << i;
  }
  EXPECT_GT(apart, 10);
}

// Codes of rows by codes of rows in int32, then the scales.
TEST(DeclaredBounds, OfIntegerSums) {
  Arithmetic how;
  how.x = how.w = find_operand("i8_row");
  how.integer_sums = true;
  Engine engine(13);
  Share share;
  for (int repeat = 0; share.outputs < outputs_of_a_rule(); ++repeat) {
    Numbers made = numbers(repeat % 2 == 0 ? gauss : wide, how, engine);
    Expected expected;
    declared_product(DType::f32, {made.w.data(), made.x.data(), nullptr, 1, made.n, made.k, made.k, made.n}, how, expected);
    const auto scale_of = [](const std::vector<double>& row) {
      float most = 0;
      for (const double one : row) most = std::max(most, static_cast<float>(std::abs(one)));
      return most / 127;
    };
    std::vector<double> x(made.x.begin(), made.x.end());
    const float x_scale = scale_of(x);
    ASSERT_TRUE(how.x->round(x));
    for (std::int64_t row = 0; row < made.n; ++row) {
      std::vector<double> w;
      for (std::int64_t c = 0; c < made.k; ++c) w.push_back(static_cast<double>(made.weight(row, c)));
      const float w_scale = scale_of(w);
      ASSERT_TRUE(how.w->round(w));
      std::int32_t sum = 0;
      for (std::size_t c = 0; c < w.size(); ++c)
        sum += static_cast<std::int32_t>(w[c] / static_cast<double>(w_scale)) *
               static_cast<std::int32_t>(x[c] / static_cast<double>(x_scale));
      share.judge(expected, static_cast<std::size_t>(row), static_cast<double>(static_cast<float>(sum) * (w_scale * x_scale)));
    }
  }
  expect_near("products", {"x=i8_row;w=i8_row;acc=i32", how}, share);
}

class DeclaredProduct : public testing::TestWithParam<Rule> {};
INSTANTIATE_TEST_SUITE_P(Rules, DeclaredProduct, testing::ValuesIn(product_rules()));

TEST_P(DeclaredProduct, StaysInsideAndComesNear) {
  expect_near("products", GetParam(), attack(GetParam().how));
}

}  // namespace
}  // namespace assay::reference::declared_bounds_test
