// What CI services read of a check: one result in every form, whatever its names hold.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/reports/ci/ci_reports.h"
#include "harness/reports/ci/source_place.h"
#include "harness/reports/report.h"

namespace assay::ci_reports_test {
namespace {

CaseResult case_of(const std::string& variant, const std::string& name, const std::string& message = "") {
  CaseResult one;
  one.op = "rms_norm";
  one.variant = variant;
  one.case_name = name;
  one.repro = "assay check rms_norm --case " + name;
  if (message.empty()) return one;
  one.verdict = Verdict::fail;
  one.failure = Failure{Check::bound, message};
  one.margin = 2;
  return one;
}

// Two that pass, one that fails, one that is mistrusted, a fault and a skip.
SuiteResult mixed() {
  SuiteResult result;
  result.cases = {case_of("rms_norm_avx2", "a"), case_of("rms_norm_avx2", "b", "y[0] = \"<1>\" & 100%\nsecond line"),
                  case_of("mine:fast", "a"), case_of("mine:fast", "c")};
  result.cases[3].verdict = Verdict::mistrusted;
  result.faults = {"rms_norm: has no golden"};
  result.skips = {{"rms_norm_avx512", "this CPU lacks avx512"}};
  return result;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(CiReports, JUnitHasATestcaseACase) {
  const std::string xml = junit_xml(mixed());
  EXPECT_NE(xml.find("<testsuites name=\"assay\" tests=\"6\" failures=\"3\" errors=\"0\" skipped=\"1\">"), std::string::npos)
      << xml;
  EXPECT_EQ(count(xml, "<testcase "), 6U);
  EXPECT_EQ(count(xml, "<failure "), 3U);
  EXPECT_NE(xml.find("<testsuite name=\"rms_norm mine:fast\" tests=\"2\" failures=\"1\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("y[0] = &quot;&lt;1&gt;&quot; &amp; 100%&#10;second line"), std::string::npos) << xml;
  EXPECT_NE(xml.find("file=\"kernels/norms/norms.h\""), std::string::npos) << xml;
  SuiteResult odd = mixed();
  odd.cases[0].case_name = std::string("a\x01") + "b";
  EXPECT_EQ(junit_xml(odd).find('\x01'), std::string::npos);
}

// A stranger's golden may name its cases anything.
TEST(CiReports, NoNameBreaksAForm) {
  for (const std::string name :
       {"a|b", "a`b", "```", "a::b", "100%", "a\nb", "a,b", "<b>&\"'", "\xff\xfe", "*_a_*", "[x](y)", "]]>"}) {
    SuiteResult odd;
    odd.cases = {case_of("mine:fast", name, "wrong: " + name)};
    const std::string xml = junit_xml(odd);
    EXPECT_EQ(count(xml, "<"), 9U) << name << xml;                           // the declaration, four elements and their ends
    EXPECT_NO_THROW(static_cast<void>(nlohmann::json(xml).dump())) << name;  // UTF-8
    EXPECT_EQ(nlohmann::json::parse(sarif_json(odd)).at("runs").at(0).at("results").size(), 1U) << name;
    EXPECT_EQ(nlohmann::json::parse(gitlab_annotations(odd)).size(), 1U) << name;
    const std::string github = github_annotations(odd, 9);
    EXPECT_EQ(count(github, "\n"), 1U) << github;
    EXPECT_EQ(count(github.substr(0, github.find("wrong")), "::"), 2U) << github;
    const std::string summary = summary_markdown(odd, CheckRequest{});
    const std::size_t row = summary.find("| mine:fast |");
    ASSERT_NE(row, std::string::npos) << summary;
    const std::string line = summary.substr(row, summary.find('\n', row) - row);
    EXPECT_EQ(count(line, "|") - count(line, "\\|"), 7U) << line;
    EXPECT_EQ(count(line, "`"), count(line, "\\`")) << line;
    const std::string fence = name == "```" ? "````\n" : "```\n";
    EXPECT_EQ(count(summary, "\n" + fence), 2U) << summary;
  }
}

TEST(CiReports, SarifHasAResultForEachThatDidNotPass) {
  const nlohmann::json log = nlohmann::json::parse(sarif_json(mixed()));
  EXPECT_EQ(log.at("version"), "2.1.0");
  const nlohmann::json& run = log.at("runs").at(0);
  const nlohmann::json& rules = run.at("tool").at("driver").at("rules");
  EXPECT_EQ(rules.size(), kCheckNames.size() + 1);
  ASSERT_EQ(run.at("results").size(), 2U);
  for (const nlohmann::json& one : run.at("results")) {
    EXPECT_EQ(rules.at(one.at("ruleIndex").get<std::size_t>()).at("id"), one.at("ruleId"));
    const nlohmann::json& place = one.at("locations").at(0).at("physicalLocation");
    EXPECT_EQ(place.at("artifactLocation").at("uri"), "kernels/norms/norms.h");
    EXPECT_GT(place.at("region").at("startLine").get<int>(), 1) << "the line that names the op";
    EXPECT_FALSE(one.at("message").at("text").get<std::string>().empty());
    EXPECT_EQ(one.at("partialFingerprints").at("variantCaseCheck/v1").get<std::string>().size(), 64U);
  }
  EXPECT_EQ(run.at("results").at(0).at("ruleId"), "bound");
  EXPECT_EQ(run.at("results").at(1).at("ruleId"), "mistrusted");
  EXPECT_EQ(run.at("invocations").at(0).at("exitCode"), 1);
  EXPECT_EQ(run.at("invocations").at(0).at("toolExecutionNotifications").size(), 2U);
}

TEST(CiReports, GitHubsCommandsAreALineEachAndFew) {
  const std::string text = github_annotations(mixed(), 9);
  EXPECT_EQ(count(text, "\n"), 3U);
  EXPECT_TRUE(text.starts_with("::error file=kernels/norms/norms.h,line=")) << text;
  EXPECT_NE(text.find("title=rms_norm_avx2%2C case b%3A bound::y[0] = \"<1>\" & 100%25%0Asecond line%0Arepeat: assay check"),
            std::string::npos)
      << text;
  SuiteResult many;
  for (int i = 0; i < 1000; ++i) many.cases.push_back(case_of("mine:fast", "c" + std::to_string(i), "wrong"));
  const std::string first = github_annotations(many, 9);
  EXPECT_EQ(count(first, "\n"), 10U);
  EXPECT_NE(first.find("::error title=assay::and 991 failures more"), std::string::npos);
}

TEST(CiReports, GitLabsFindingsHaveFingerprintsOfTheirOwn) {
  const nlohmann::json findings = nlohmann::json::parse(gitlab_annotations(mixed()));
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_NE(findings[0].at("fingerprint"), findings[1].at("fingerprint"));
  SuiteResult alike;  // but for the case
  alike.cases = {case_of("rms_norm_avx2", "a", "y[0] = 1"), case_of("rms_norm_avx2", "b", "y[0] = 1")};
  const nlohmann::json two = nlohmann::json::parse(gitlab_annotations(alike));
  EXPECT_NE(two.at(0).at("fingerprint"), two.at(1).at("fingerprint"));
  EXPECT_EQ(findings[0].at("location").at("path"), "kernels/norms/norms.h");
  EXPECT_EQ(nlohmann::json::parse(gitlab_annotations(SuiteResult{})).size(), 0U);
}

TEST(CiReports, AThousandFailuresAreInEveryForm) {
  SuiteResult many;
  for (int i = 0; i < 1000; ++i) many.cases.push_back(case_of("mine:fast", "c" + std::to_string(i), "wrong"));
  EXPECT_EQ(count(junit_xml(many), "<failure "), 1000U);
  EXPECT_EQ(nlohmann::json::parse(sarif_json(many)).at("runs").at(0).at("results").size(), 1000U);
  EXPECT_EQ(nlohmann::json::parse(gitlab_annotations(many)).size(), 1000U);
  EXPECT_EQ(suite_json(many, CheckRequest{}).at("cases").size(), 1000U);
}

TEST(CiReports, TheSummaryIsTheReportsMarkdown) {
  const std::string text = summary_markdown(mixed(), CheckRequest{});
  EXPECT_TRUE(text.starts_with("### assay: FAIL: 2 failures, 1 fault of the suite")) << text;
  EXPECT_NE(text.find("rms_norm_avx2, case b: bound"), std::string::npos) << text;
}

// A test program has no debug information in a release, so a function of it has the op's specification.
TEST(CiReports, WithoutDebugInformationTheSpecificationIsThePlace) {
  const SourcePlace place = source_place(CodePlace{"/nonexistent.so", 64}, require_op("rms_norm"));
  EXPECT_EQ(place.file, "kernels/norms/norms.h");
}

}  // namespace
}  // namespace assay::ci_reports_test
