// `assay order`: trees of sums whose order is known.
#include "harness/forensics/order/order.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/forensics/order/claim.h"
#include "harness/forensics/order/positive.h"
#include "harness/forensics/order/report.h"
#include "reference/convert.h"
#include "tests/known_sums.h"

namespace assay::order::order_test {
namespace {

// A type of accumulator, by how it rounds.
double to_f64(double x) {
  return x;
}
double to_f32(double x) {
  return static_cast<float>(x);
}
double to_f16(double x) {
  return reference::Half::decode(reference::narrow<reference::Half>(static_cast<float>(x)));
}
double to_bf16(double x) {
  return reference::Bfloat::decode(reference::narrow<reference::Bfloat>(static_cast<float>(x)));
}
using Rounding = double (*)(double);

// The sum in the order of a tree; fused: a leaf is not rounded before it is added.
double add_up(const Tree& tree, const Sum::Factors& w, const Sum::Factors& x, Rounding round, bool fused) {
  std::vector<double> values(tree.size());
  for (std::size_t node = 0; node < tree.size(); ++node) {
    const Tree::Node& one = tree.at(static_cast<int>(node));
    if (one.children.empty()) {
      const auto term = static_cast<std::size_t>(one.term);
      const double product = w[term] * (x.empty() ? 1 : x[term]);
      values[node] = fused ? product : round(product);
      continue;
    }
    for (const int child : one.children) values[node] += values[static_cast<std::size_t>(child)];
    values[node] = round(values[node]);
  }
  return values.back();
}

Sum plain_sum(const Shape& shape, int terms, Rounding round = to_f32, bool fused = true) {
  Sum sum{.terms = terms, .places = 4, .long_x = true};
  sum.run = [tree = tree_of(shape, terms), round, fused](std::span<const Sum::Factors> rows, const Sum::Factors& x) {
    std::vector<double> sums;
    for (const Sum::Factors& w : rows) sums.push_back(add_up(tree, w, x, round, fused));
    return sums;
  };
  return sum;
}
KernelSum kernel_of(const Sum& sum) {
  return signed_sum("products", {.block = 64}, sum);
}
KernelSum sum_of(const Shape& shape, int terms, Rounding round = to_f32, bool fused = true) {
  return kernel_of(plain_sum(shape, terms, round, fused));
}

constexpr int kLengths[] = {5, 16, 100, 133, 300};

Sum::Factors products(const Sum::Factors& w, const Sum::Factors& x) {
  Sum::Factors all = w;
  for (std::size_t i = 0; i < x.size(); ++i) all[i] *= x[i];
  return all;
}

// As a dot in f32.
SumOrder order_of_dot(float (*kernel)(std::span<const float>), int terms) {
  Sum sum{.terms = terms, .places = 4};
  sum.run = [kernel](std::span<const Sum::Factors> rows, const Sum::Factors& x) {
    std::vector<double> sums;
    for (const Sum::Factors& w : rows) {
      const Sum::Factors all = products(w, x);
      sums.push_back(static_cast<double>(kernel(std::vector<float>(all.begin(), all.end()))));
    }
    return sums;
  };
  return order_of(kernel_of(sum));
}

TEST(Order, TwentyDotsAsPeopleWriteThem) {
  for (const KnownSum& known : kKnownSums) {
    for (const int terms : kLengths) {
      const SumOrder order = order_of_dot(known.kernel, terms);
      ASSERT_TRUE(order.found) << known.name << " " << terms << ": " << order.why;
      EXPECT_TRUE(order.found->tree == known_tree(known, terms)) << known.name << " " << terms << ": " << words_of(order);
    }
  }
}

// As a norm: all that is seen of the sum is x / sqrt(sum / n).
TEST(Order, TwentySumsBehindARoot) {
  for (const KnownSum& known : kKnownSums) {
    for (const int terms : kLengths) {
      Positive sum{.terms = terms, .places = 8};
      sum.large = [](int digits) { return exact_squares(digits); };
      sum.run = [&known, terms](std::span<const Positive::Few> all) {
        std::vector<double> results;
        for (const Positive::Few& few : all) {
          std::vector<float> squares(static_cast<std::size_t>(terms));
          for (const auto& [at, value] : few) squares[static_cast<std::size_t>(at)] = static_cast<float>(std::sqrt(value));
          const float first = squares[static_cast<std::size_t>(few.front().at)];
          for (float& one : squares) one *= one;
          results.push_back(static_cast<double>(first * (1 / std::sqrt(known.kernel(squares) / static_cast<float>(terms)))));
        }
        return results;
      };
      const std::vector<Tree> canonical{tree_of(Shape{.lanes = 16, .joined = Join::halves}, terms)};
      const Found found = discover(sum, canonical);
      EXPECT_TRUE(found.tree == known_tree(known, terms)) << known.name << " " << terms;
      EXPECT_EQ(accumulator_name(found), "f32") << known.name << " " << terms;
    }
  }
}

TEST(Order, CompensatedSumsAreNotTrees) {
  const auto kahan = [](std::span<const float> terms) {
    volatile float sum = 0, lost = 0;
    for (const float term : terms) {
      const volatile float whole = term - lost;
      const volatile float next = sum + whole;
      lost = (next - sum) - whole;
      sum = next;
    }
    return static_cast<float>(sum);
  };
  const auto neumaier = [](std::span<const float> terms) {
    volatile float sum = 0, lost = 0;
    for (const float term : terms) {
      const volatile float next = sum + term;
      lost = lost + (std::abs(sum) >= std::abs(term) ? (sum - next) + term : (term - next) + sum);
      sum = next;
    }
    return static_cast<float>(sum + lost);
  };
  std::vector<int> lengths(std::begin(kLengths), std::end(kLengths));
  lengths.insert(lengths.end(), {3, 4});
  for (float (*const kernel)(std::span<const float>) : {+kahan, +neumaier}) {
    for (const int terms : lengths) {
      const SumOrder order = order_of_dot(kernel, terms);
      EXPECT_FALSE(order.found) << terms;
      EXPECT_TRUE(order.why.starts_with("not a tree: ")) << terms << ": " << order.why;
    }
  }
}

// Codes of rows in int32: a unit beside the mask is code 0.
TEST(Order, ExactIntegersHaveNoOrder) {
  const auto integers = [](std::span<const float> terms) {
    float most = 0;
    for (const float term : terms) most = std::max(most, std::abs(term));
    const float inverse = most == 0 ? 0 : 127 / most;
    std::int64_t sum = 0;
    for (const float term : terms) sum += static_cast<std::int64_t>(std::nearbyint(term * inverse));
    return static_cast<float>(sum) * (most / 127);
  };
  const SumOrder order = order_of_dot(integers, 100);
  ASSERT_TRUE(order.found) << order.why;
  EXPECT_NE(words_of(order).find("it has no order"), std::string::npos) << words_of(order);
}

struct Known {
  const char* name;
  Shape shape;
};

std::vector<Known> known_shapes() {
  std::vector<Known> all{
      {"in order", {}},
      {"in reverse", {.reversed = true}},
      {"pairwise", {.lanes = 128, .joined = Join::neighbours}},
      {"reversed lanes", {.lanes = 8, .reversed = true}},
      {"lanes and accumulators", {.lanes = 16, .accumulators = 4, .accumulated = Join::neighbours, .joined = Join::halves}},
      {"accumulators in order", {.lanes = 8, .accumulators = 2, .joined = Join::neighbours, .tail = Tail::appended}},
      {"tail apart", {.lanes = 16, .joined = Join::halves, .tail = Tail::apart}},
      {"blocks", {.block = 32}},
      {"blocks of lanes", {.block = 32, .lanes = 8, .joined = Join::halves}},
      {"blocks pairwise", {.block = 16, .blocks = Join::neighbours}}};
  for (const int lanes : {4, 8, 16, 32, 64}) {
    all.push_back({"lanes by halves", {.lanes = lanes, .joined = Join::halves}});
    all.push_back({"lanes in order, tail appended", {.lanes = lanes, .tail = Tail::appended}});
  }
  return all;
}

// Every order is found as a tree, and as the same tree again from its words' shape.
TEST(Order, FindsKnownTrees) {
  for (const Known& known : known_shapes()) {
    for (const int terms : {3, 16, 100, 133}) {
      const SumOrder order = order_of(sum_of(known.shape, terms));
      ASSERT_TRUE(order.found) << known.name << " " << terms << ": " << order.why;
      EXPECT_TRUE(order.found->tree == tree_of(known.shape, terms)) << known.name << " " << terms;
      ASSERT_TRUE(order.shape) << known.name << " " << terms;
      EXPECT_TRUE(tree_of(*order.shape, terms) == order.found->tree) << known.name << " " << terms;
    }
  }
}

TEST(Order, SaysWhatItIs) {
  const Shape shape{
      .lanes = 16, .accumulators = 4, .accumulated = Join::neighbours, .joined = Join::halves, .tail = Tail::appended};
  const SumOrder order = order_of(sum_of(shape, 1000));
  EXPECT_EQ(words_of(order),
            "16 lanes, 4 accumulators, joined pairwise, neighbours first, lanes joined pairwise, by halves, the tail appended, "
            "one after the other");
  EXPECT_FALSE(order.canonical);
  EXPECT_EQ(order.difference.size(), 2U);
}

TEST(Order, NamesTheFirstSumThatDiffers) {
  const SumOrder order = order_of(sum_of({.block = 32}, 100));
  ASSERT_FALSE(order.canonical);
  EXPECT_EQ(order.difference, (std::vector<int>{32, 33}));
}

TEST(Order, ProvesTheCanonicalOrderInFewCalls) {
  const KernelSum kernel = sum_of({.block = 64}, 1000);
  const SumOrder order = order_of(kernel);
  EXPECT_TRUE(order.canonical);
  EXPECT_TRUE(order.found->hypothesis);
  EXPECT_LE(order.found->calls, 2 * 998 / 4 + 100);
}

TEST(Order, MeasuresTheAccumulator) {
  const std::pair<Rounding, const char*> types[] = {{to_f64, "f64"}, {to_f32, "f32"}, {to_f16, "f16"}, {to_bf16, "bf16"}};
  for (const auto& [round, name] : types) {
    for (const Shape& shape : {Shape{}, Shape{.lanes = 16, .joined = Join::halves}}) {
      const SumOrder order = order_of(sum_of(shape, 100, round));
      ASSERT_TRUE(order.found) << name << ": " << order.why;
      EXPECT_EQ(accumulator_name(*order.found), name);
      EXPECT_TRUE(order.found->tree == tree_of(shape, 100)) << name;
    }
  }
}

// Eight lanes of f32 whose sums meet in f64: terms 0 and 1 meet there.
TEST(Order, TheNarrowerOfTwoAccumulatorsCounts) {
  Sum sum{.terms = 100, .places = 1};
  sum.run = [](std::span<const Sum::Factors> rows, const Sum::Factors& x) {
    std::vector<double> sums;
    for (const Sum::Factors& w : rows) {
      std::vector<double> lanes(8);
      for (std::size_t i = 0; i < w.size(); ++i) lanes[i % 8] = to_f32(lanes[i % 8] + w[i] * (x.empty() ? 1 : x[i]));
      double all = 0;
      for (const double lane : lanes) all += lane;
      sums.push_back(all);
    }
    return sums;
  };
  const SumOrder order = order_of(kernel_of(sum));
  ASSERT_TRUE(order.found) << order.why;
  EXPECT_EQ(accumulator_name(*order.found), "f32");
}

// Blocks of 64 in f32, whose sums meet in bf16: neither terms 0 and 1 nor any others of a block do.
TEST(Order, ANarrowTotalOfBlocksIsSeen) {
  Sum sum{.terms = 300, .places = 1};
  sum.run = [](std::span<const Sum::Factors> rows, const Sum::Factors& x) {
    std::vector<double> sums;
    for (const Sum::Factors& w : rows) {
      double total = 0;
      for (std::size_t from = 0; from < w.size(); from += 64) {
        double block = 0;
        for (std::size_t i = from; i < std::min(from + 64, w.size()); ++i) block = to_f32(block + w[i] * (x.empty() ? 1 : x[i]));
        total = to_bf16(total + block);
      }
      sums.push_back(total);
    }
    return sums;
  };
  const SumOrder order = order_of(kernel_of(sum));
  ASSERT_TRUE(order.found) << order.why;
  EXPECT_EQ(accumulator_name(*order.found), "bf16");
}

TEST(Order, AThirdTermMeetsTwoThatMeetFirst) {
  const SumOrder order = order_of(sum_of({.lanes = 2}, 3));
  ASSERT_TRUE(order.found) << order.why;
  EXPECT_EQ(accumulator_name(*order.found), "f32");
}

TEST(Order, WorksInPiecesWhereTheMaskIsSmall) {
  const SumOrder order = order_of(sum_of({}, 1000, to_bf16));
  ASSERT_TRUE(order.found) << order.why;
  EXPECT_EQ(order.found->note, "in pieces of 256 terms");
  EXPECT_TRUE(order.found->tree == tree_of({}, 1000));
}

TEST(Order, TellsFusedFromMultiplyThenAdd) {
  EXPECT_EQ(order_of(sum_of({.lanes = 8}, 100, to_f32, true)).found->fused, true);
  EXPECT_EQ(order_of(sum_of({.lanes = 8}, 100, to_f32, false)).found->fused, false);
  EXPECT_EQ(order_of(sum_of({.lanes = 8}, 100, to_f64, false)).found->fused, std::nullopt);
}

TEST(Order, AnOutputOfItsOwnOrderIsReported) {
  Sum sum = plain_sum({}, 40);
  sum.run = [one = sum.run, other = plain_sum({.lanes = 8}, 40).run](std::span<const Sum::Factors> rows, const Sum::Factors& x) {
    std::vector<double> sums = one(rows, x);
    if (sums.size() > 3) sums[3] = other(rows, x)[3];
    return sums;
  };
  const SumOrder order = order_of(kernel_of(sum));
  ASSERT_TRUE(order.found) << order.why;
  EXPECT_TRUE(order.found->tree == tree_of({}, 40));
  ASSERT_EQ(order.depends.size(), 1U);
  EXPECT_NE(order.depends.front().find("output 3"), std::string::npos) << order.depends.front();
}

// Sixteen lanes, joined by halves, are eight on the way.
TEST(Order, LanesAreToldFromTwiceAsMany) {
  const Tree tree = tree_of({.lanes = 16, .joined = Join::halves}, 64);
  EXPECT_TRUE(agrees(tree, {reference::Order::Kind::lanes, 16}));
  EXPECT_FALSE(agrees(tree, {reference::Order::Kind::lanes, 8}));
}

TEST(Order, TriplesAloneGiveTheTree) {
  for (const Known& known : known_shapes()) {
    for (const int terms : {1, 2, 3, 16, 70}) {
      const Tree tree = tree_of(known.shape, terms);
      const JoinedFirst joined_first = [&](std::span<const Triple> triples) {
        std::vector<bool> found;
        for (const Triple& one : triples) {
          Sum::Factors w(static_cast<std::size_t>(terms));
          w[static_cast<std::size_t>(one.a)] = 0x1p60;
          w[static_cast<std::size_t>(one.b)] = -0x1p60;
          w[static_cast<std::size_t>(one.c)] = 1;
          found.push_back(add_up(tree, w, {}, to_f32, true) != 0);
        }
        return found;
      };
      EXPECT_TRUE(reveal_by_triples(terms, joined_first) == tree) << known.name << " " << terms;
    }
  }
}

}  // namespace
}  // namespace assay::order::order_test
