// Parts of the bench by themselves: the ledger, names and requests, comparisons, ranges for threads, files.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

#include "engine/threads.h"
#include "golden/atomic_file.h"
#include "harness/verdict/check.h"
#include "harness/verdict/compare.h"
#include "harness/verdict/nearest.h"
#include "harness/verdict/suite.h"
#include "tests/temporary.h"

namespace assay::harness_parts_test {
namespace {

TEST(Ledger, KeepsDigestsAndReasons) {
  const TemporaryFolder folder;
  Ledger ledger(folder.path() / "ledger.json");
  EXPECT_EQ(ledger.accept("add", {{"a", "1"}, {"b", "2"}}, {}, "w", "d", "first").size(), 2U);
  EXPECT_EQ(ledger.accept("add", {{"a", "1"}, {"b", "3"}}, {{"b", 0.25}}, "w", "d", "why").size(), 1U);
  EXPECT_TRUE(ledger.accept("add", {{"a", "1"}, {"b", "3"}}, {{"b", 0.25}}, "w", "d", "nothing").empty());
  EXPECT_EQ(ledger.accept("add", {{"a", "1"}, {"b", "3"}}, {{"b", 0.5}}, "w", "d", "the bound is tighter"),
            std::vector<std::string>{"b"});
  EXPECT_EQ(ledger.accept("add", {{"b", "3"}}, {{"b", 0.5}}, "w", "d", "a is gone"), std::vector<std::string>{"a"});
  EXPECT_EQ(ledger.accept("add", {{"a", "1"}, {"b", "3"}}, {{"b", 0.5}}, "w", "d", "and back"), std::vector<std::string>{"a"});
  ledger.save();
  const Ledger again(folder.path() / "ledger.json");
  EXPECT_EQ(again.digest("add", "b"), "3");
  EXPECT_EQ(again.margin("add", "b"), 0.5);
  EXPECT_EQ(again.margin("add", "a"), 0) << "of an op whose margins are kept only those above 0 are written";
  EXPECT_EQ(again.margin("sub", "a"), std::nullopt);
  ASSERT_EQ(again.acceptances().size(), 5U);
  EXPECT_EQ(again.acceptances()[1].why, "why");
  std::ofstream(folder.path() / "ledger.json") << R"({"schema": 2, "accepted": [], "digests": {}})";
  EXPECT_THROW(Ledger(folder.path() / "ledger.json"), std::runtime_error);
}

TEST(Checks, ParseAndNames) {
  EXPECT_EQ(Checks::parse("bound,guard").to_string(), "bound,guard");
  EXPECT_EQ(Checks::parse("bound,guard").off_to_string(), "classes,bias,spread,exact,bits,ledger");
  EXPECT_TRUE(Checks::all().off_to_string().empty());
  EXPECT_THROW(Checks::parse("bounds"), std::invalid_argument);
  EXPECT_THROW(Checks::parse(""), std::invalid_argument);
}

TEST(Nearest, NamesTheNearest) {
  EXPECT_EQ(unknown_name("op", "rms_nrom", {"add", "rms_norm"}), "unknown op 'rms_nrom'; the nearest is 'rms_norm'");
}

TEST(Suite, UnknownNamesAreRefused) {
  CheckRequest request;
  request.ops = {"rms_nrom"};
  EXPECT_THROW(run_suite(request), std::invalid_argument);
  request.ops = {"add"};
  request.case_name = "no_such_case";
  EXPECT_THROW(run_suite(request), std::invalid_argument);
}

TEST(Suite, ATagThatNoCaseHasIsRefused) {
  CheckRequest request;
  request.ops = {"add"};
  request.tag = "no_such_tag";
  EXPECT_THROW(run_suite(request), std::invalid_argument);
}

TEST(Suite, AnEmptyFolderOfGoldensIsRefused) {
  const TemporaryFolder folder;
  CheckRequest request;
  request.golden = folder.path();
  EXPECT_THROW(run_suite(request), std::runtime_error);
}

TEST(Spread, SeesWhatALooseBoundForgives) {
  const TensorSpec spec = output("y", DType::f32, {2});
  reference::Expected expected{{1, 2}, {1, 1}, {}, {}, {}};
  Array y{DType::f32, {2}, std::vector<std::uint8_t>(8)};
  const float values[2] = {1.5F, 2};
  std::memcpy(y.bytes.data(), values, sizeof values);
  EXPECT_DOUBLE_EQ(compare_bounded(spec, y, expected, reference::BiasUnit::output, false).square_sum, 0.25);
}

TEST(Classes, OverflowMayGoEitherWayInsideTheBound) {
  const TensorSpec spec = output("y", DType::f32, {1});
  const double near_overflow = 0x1.ffffffp127;  // the threshold itself
  Array y{DType::f32, {1}, std::vector<std::uint8_t>(4)};
  for (const float value : {INFINITY, 0x1.fffffep127F}) {
    std::memcpy(y.bytes.data(), &value, sizeof value);
    const reference::Expected straddling{{near_overflow}, {0x1p120}, {}, {}, {}};
    EXPECT_FALSE(compare_bounded(spec, y, straddling, reference::BiasUnit::output, false).wrong_class) << value;
  }
  const float infinite = INFINITY;
  std::memcpy(y.bytes.data(), &infinite, sizeof infinite);
  const reference::Expected finite{{1}, {0x1p120}, {}, {}, {}};
  EXPECT_TRUE(compare_bounded(spec, y, finite, reference::BiasUnit::output, false).wrong_class);
}

bool zero_is_wrong(float zero, double truth, double bound, bool keeps_sign) {
  Array y{DType::f32, {1}, std::vector<std::uint8_t>(4)};
  std::memcpy(y.bytes.data(), &zero, sizeof zero);
  const reference::Expected expected{{truth}, {bound}, {}, {}, {}};
  return compare_bounded(output("y", DType::f32, {1}), y, expected, reference::BiasUnit::none, keeps_sign)
      .wrong_class.has_value();
}

TEST(Classes, AZerosSignCountsWhereItIsFixed) {
  for (const float sign : {1.0F, -1.0F}) {
    for (const bool keeps_sign : {false, true}) {
      EXPECT_FALSE(zero_is_wrong(sign * 0.0F, sign * 0.0, 0, keeps_sign));
      EXPECT_TRUE(zero_is_wrong(-sign * 0.0F, sign * 0.0, 0, keeps_sign)) << "nothing but this zero can come out";
      EXPECT_EQ(zero_is_wrong(-sign * 0.0F, sign * 1e-60, 0x1p-149, keeps_sign), keeps_sign) << "a sum that underflows may";
      EXPECT_EQ(zero_is_wrong(-sign * 0.0F, sign * 0.0, 0x1p-149, keeps_sign), keeps_sign);
    }
  }
}

TEST(Threads, RangesCoverEverythingOnceAtMultiples) {
  Team team(3);
  for (const std::int64_t count : {0, 1, 31, 32, 33, 100, 1000}) {
    std::vector<int> hits(static_cast<std::size_t>(count));
    parallel_ranges(team, count, 32, [&](std::int64_t begin, std::int64_t end) {
      EXPECT_EQ(begin % 32, 0);
      for (std::int64_t i = begin; i < end; ++i) ++hits[static_cast<std::size_t>(i)];
    });
    for (const int hit : hits) EXPECT_EQ(hit, 1);
  }
}

TEST(AtomicFile, ReplacesAndNamesWhatItCannotWrite) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "a", "one");
  write_file_atomically(folder.path() / "a", "two");
  std::string text;
  std::ifstream(folder.path() / "a") >> text;
  EXPECT_EQ(text, "two");
  EXPECT_THROW(write_file_atomically(folder.path() / "none" / "a", "x"), std::runtime_error);
  { AtomicFile(folder.path() / "b").write({}); }  // never committed
  const std::filesystem::directory_iterator left(folder.path());
  EXPECT_EQ(std::distance(begin(left), end(left)), 1) << "an unfinished file was left behind";
}

}  // namespace
}  // namespace assay::harness_parts_test
