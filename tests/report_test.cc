// `assay check --shard` and `assay report`: parts that make the whole, what nobody ran, two machines that differ, hostile input.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/reports/report.h"
#include "harness/reports/report_page/page.h"
#include "harness/reports/report_page/words.h"
#include "tests/report_support.h"
#include "tests/temporary.h"

namespace assay::report_page::report_test {
namespace {

CheckRequest request(const std::string& shard = "1/1") {
  CheckRequest out;
  out.ops = {"add", "argmax"};
  out.shard = Shard::parse(shard);
  return out;
}

nlohmann::json report(const std::string& shard) {
  const CheckRequest asked = request(shard);
  return nlohmann::json::parse(suite_json(run_suite(asked), asked).dump());
}

std::set<std::string> ran(const SuiteResult& result) {
  std::set<std::string> out;
  for (const CaseResult& one : result.cases) out.insert(one.variant + " " + one.case_name);
  return out;
}

std::string complaint(const std::filesystem::path& path) {
  try {
    read_part(path);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

class ReportFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    const auto path = folder_.path() / name;
    std::ofstream(path) << text;
    return path.string();
  }
  TemporaryFolder folder_;
};

TEST(Shard, PartsAreDisjointAndTogetherTheWhole) {
  const SuiteResult whole = run_suite(request());
  std::set<std::string> together;
  std::size_t sum = 0;
  for (const char* shard : {"1/3", "2/3", "3/3"}) {
    const SuiteResult one = run_suite(request(shard));
    EXPECT_TRUE(one.faults.empty()) << shard << ": " << one.faults.front();
    EXPECT_FALSE(one.cases.empty());
    EXPECT_EQ(one.known, whole.known) << "every shard knows the whole suite";
    EXPECT_EQ(ran(one), ran(run_suite(request(shard)))) << "the split does not change";
    together.merge(ran(one));
    sum += one.cases.size();
  }
  EXPECT_EQ(together, ran(whole));
  EXPECT_EQ(sum, whole.cases.size());
}

TEST(Shard, ATagIsSplitToo) {
  CheckRequest asked = request();
  asked.tag = "real";
  const SuiteResult whole = run_suite(asked);
  ASSERT_GE(whole.known.at("add").size(), 2U);
  std::set<std::string> together;
  for (const char* shard : {"1/2", "2/2"}) {
    asked.shard = Shard::parse(shard);
    together.merge(ran(run_suite(asked)));
  }
  EXPECT_EQ(together, ran(whole));
}

TEST(Shard, WrongOnesAreTold) {
  for (const char* wrong :
       {"", "1", "0/3", "4/3", "1/0", "-1/3", "a/3", "1/3x", "1/", "/3", "1/3/5", " 1/3", "99999999999999999999/3"}) {
    EXPECT_THROW(Shard::parse(wrong), std::invalid_argument) << wrong;
  }
  EXPECT_EQ(Shard::parse("2/8").to_string(), "2/8");
}

TEST(Shard, EachHasACase) {
  EXPECT_THROW(run_suite(request("1/100000")), std::invalid_argument) << "a shard without a case is no empty pass";
  std::int64_t cases = 0;
  for (const auto& [op, names] : run_suite(request()).known) cases += std::ssize(names);
  // Though some of so many would have one.
  for (const std::int64_t index : {std::int64_t{1}, cases / 2, cases}) {
    const std::string shard = std::to_string(index) + "/" + std::to_string(cases + 1);
    EXPECT_THROW(run_suite(request(shard)), std::invalid_argument) << shard;
  }
}

TEST_F(ReportFiles, PartsJoinedAreTheWhole) {
  std::vector<Part> parts;
  for (const char* shard : {"1/2", "2/2"})
    parts.push_back(read_part(write("part" + std::string(shard, 1), report(shard).dump())));
  const Joined joined = join(parts, true);
  EXPECT_TRUE(joined.passed()) << verdict_line(joined);
  EXPECT_EQ(joined.machines.size(), 1U);
  const SuiteResult whole = run_suite(request());
  std::size_t cases = 0;
  for (const VariantRow& row : joined.rows) cases += row.cases.size();
  EXPECT_EQ(cases, whole.cases.size());
  EXPECT_NE(verdict_line(joined).find("one answer"), std::string::npos);

  const Joined half = join({parts[0]}, true);
  EXPECT_FALSE(half.passed());
  EXPECT_EQ(half.gaps.size() + half.coverage[0].cases.size() + half.coverage[1].cases.size(),
            whole.known.at("add").size() + whole.known.at("argmax").size());
  ASSERT_FALSE(half.notes.empty());
  EXPECT_EQ(half.notes.front(), "shard 2/2 is not among the parts");
  EXPECT_TRUE(join({parts[0]}, false).passed()) << "a shard by itself judges what it has";
}

TEST_F(ReportFiles, WhatIsNoReportIsToldByFileAndMember) {
  const nlohmann::json good = report("1/2");
  EXPECT_NE(complaint("/nonexistent.json").find("/nonexistent.json: cannot be read"), std::string::npos);
  EXPECT_NE(complaint(write("text", "PASS")).find("is no JSON"), std::string::npos);
  const auto with = [&](const char* pointer, const nlohmann::json& value) {
    nlohmann::json bad = good;
    bad[nlohmann::json::json_pointer(pointer)] = value;
    return complaint(write("bad.json", bad.dump()));
  };
  EXPECT_NE(with("/schema", 99).find("bad.json: schema: expected 1"), std::string::npos) << with("/schema", 99);
  EXPECT_NE(with("/cases", 5).find("bad.json: cases: expected an array"), std::string::npos);
  EXPECT_NE(with("/cases/1/digest", 5).find("bad.json: cases[1].digest: expected a string"), std::string::npos);
  EXPECT_NE(with("/cases/1/verdict", "good").find("cases[1].verdict: expected pass, fail or mistrusted"), std::string::npos);
  EXPECT_NE(with("/request/shard/index", 7).find("request.shard: expected index and count"), std::string::npos);
  nlohmann::json bad = good;
  bad["cases"][0].erase("margin");
  EXPECT_NE(complaint(write("bad.json", bad.dump())).find("cases[0].margin: expected this member, which is missing"),
            std::string::npos);
  EXPECT_NE(complaint(write("bad.json", "[]")).find("expected an object"), std::string::npos);
}

TEST(Join, WhatNobodyRanFails) {
  const Joined joined = join({part("add_scalar", "a", "d")}, true);
  EXPECT_EQ(joined.gaps, std::vector<std::string>{"add b"});
  EXPECT_FALSE(joined.passed());
  EXPECT_TRUE(join({part("add_scalar", "a", "d"), part("add_scalar", "b", "e")}, true).passed());
}

TEST(Join, WhatPartsSayOfThemselvesIsKept) {
  Part first = part("add_scalar", "a", "d");
  Part second = part("add_scalar", "b", "e");
  first.cases[0].verdict = "mistrusted";
  const Joined mistrusted = join({first, second}, true);
  EXPECT_EQ(mistrusted.problems.size(), 1U);
  EXPECT_FALSE(mistrusted.passed());
  first.cases[0].verdict = "pass";
  second.faults = {"argmax: has no golden"};
  EXPECT_EQ(join({first, second}, true).faults, std::vector<std::string>{"argmax: has no golden"});
  second.faults.clear();
  second.checks_off = "bound";
  second.path = "half.json";
  const Joined noted = join({first, second}, true);
  EXPECT_EQ(std::ranges::count(noted.notes, "half.json: checks off: bound"), 1);
}

TEST(Join, ACaseThatOnePartAloneKnowsIsMissed) {
  Part first = part("add_scalar", "a", "d");
  first.known["add"] = {"a", "b", "c"};
  EXPECT_EQ(join({first, part("add_scalar", "b", "e")}, true).gaps, std::vector<std::string>{"add c"});
}

TEST(Join, NoCaseAtAllFails) {
  Part empty = part("add_scalar", "a", "d");
  empty.cases.clear();
  empty.known.clear();
  EXPECT_EQ(join({empty}, true).faults, std::vector<std::string>{"no case was run"});
}

TEST_F(ReportFiles, InfiniteMarginsAndFaultsAreRead) {
  nlohmann::json json = report("1/2");
  json["cases"][0]["margin"] = nullptr;
  json["faults"] = {"add: has no golden"};
  const Part read = read_part(write("faults.json", json.dump()));
  EXPECT_TRUE(std::isinf(read.cases[0].margin));
  EXPECT_EQ(read.faults, std::vector<std::string>{"add: has no golden"});
}

TEST(Join, TwoMachinesThatDifferAreNamed) {
  Part other = part("add_avx2", "a", "other");
  other.machine.cpu = "two";
  const Joined joined = join({part("add_scalar", "a", "d"), part("add_scalar", "b", "e"), other}, true);
  ASSERT_EQ(joined.differences.size(), 1U);
  EXPECT_EQ(joined.machines.size(), 2U);
  EXPECT_FALSE(joined.differences[0].duplicate);
  const std::string text = describe_difference(joined, joined.differences[0]);
  EXPECT_EQ(text,
            "add, case a: another digest\n  add_scalar in a.json (machine 1): digest d, margin 0.25\n"
            "  add_avx2 in a.json (machine 2): digest other, margin 0.25");
  EXPECT_FALSE(joined.passed());
}

TEST(Join, DuplicatesAndMarginsThatDisagreeAreTold) {
  Part twice = part("add_scalar", "a", "d");
  twice.cases[0].margin = 0.5;
  const Joined joined = join({part("add_scalar", "a", "d"), part("add_scalar", "b", "e"), twice}, true);
  ASSERT_EQ(joined.differences.size(), 1U);
  EXPECT_EQ(joined.differences[0].what, "margin");
  EXPECT_TRUE(joined.differences[0].duplicate);
  // Within the reference's own rounding two margins agree; two infinite ones are the same.
  twice.cases[0].margin = 0.25 + kMarginRounding / 2;
  EXPECT_TRUE(join({part("add_scalar", "a", "d"), part("add_scalar", "b", "e"), twice}, true).passed());
  Part wild = part("add_scalar", "a", "d");
  wild.cases[0].margin = twice.cases[0].margin = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(join({wild, part("add_scalar", "b", "e"), twice}, true).differences.empty());
  EXPECT_EQ(join({part("add_scalar", "a", "d"), twice}, true).differences.size(), 1U);
}

TEST(Join, NothingTrustedOrComparedFailsOnlyWhenJoined) {
  Part first = part("add_scalar", "a", "d");
  Part second = part("add_scalar", "b", "e");
  first.cases[0].trivial = second.cases[0].trivial = true;
  first.cases[0].compared = second.cases[0].compared = 0;
  const Joined joined = join({first, second}, true);
  EXPECT_EQ(joined.faults, (std::vector<std::string>{"add_scalar: nothing was compared",
                                                     "add_scalar: no case that a kernel returning zeros would fail"}));
}

TEST(Join, AFailureFails) {
  Part bad = part("add_scalar", "a", "d");
  bad.cases[0].verdict = "fail";
  bad.cases[0].failure = "bound: <y> & \"z\"";
  const Joined joined = join({bad}, false);
  EXPECT_FALSE(joined.passed());
  const std::string html = page(joined, {}, {});
  EXPECT_NE(html.find(R"(bound: \u003cy> & \"z\")"), std::string::npos);
  EXPECT_LT(html.find("id=\"failures\""), html.find("id=\"margins\"")) << "failures come first";
  EXPECT_EQ(report_page_json(joined).at("passed"), false);
}

TEST(Page, HoldsEverythingAndFetchesNothing) {
  const Joined joined = join({part("add_scalar", "a", "d")}, false);
  const BenchFile bench{"bench.json", "one", "abc", {{"add_scalar", "n=8", true, 1500, 12.5, 40.0, {}}}};
  const std::string html = page(joined, {}, {bench});
  for (const char* there : {"prefers-color-scheme: dark", "default-src 'none'", R"("margin":0.25,"worst_case":"a")",
                            "id=\"coverage\"", R"("read_percent":40.0)", "<noscript>", "</html>"}) {
    EXPECT_NE(html.find(there), std::string::npos) << there;
  }
  for (const char* outside : {"http:", "https:", "url(", "<script src", "src=\"", "@import"}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
  EXPECT_NE(report_markdown(joined).find("| add_scalar | 0.250 |"), std::string::npos);
}

}  // namespace
}  // namespace assay::report_page::report_test
