#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/reports/ci/ci_reports.h"
#include "harness/reports/ci/problems.h"
#include "harness/reports/figures.h"

namespace assay {
namespace {

// With U+FFFD in the place of what is not UTF-8.
std::string utf8(std::string_view text) {
  const nlohmann::json json(text);
  return nlohmann::json::parse(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)).get<std::string>();
}

// As text or as an attribute's value. What XML 1.0 cannot hold a control character, becomes '?'.
std::string xml(std::string_view text) {
  std::string out;
  for (const char c : utf8(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += "&#10;";
        break;
      case '\t':
        out += "&#9;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return out;
}

struct Tally {
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t skipped = 0;
  std::string cases;

  std::string element(const std::string& name) const {
    return fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n{}  </testsuite>\n",
                       xml(name), tests, failures, skipped, cases);
  }
};

std::string case_head(const std::string& suite, const std::string& name) {
  return fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml(suite), xml(name));
}

std::string failure_element(const Problem& problem) {
  const CaseResult& one = *problem.result;
  return fmt::format(
      " file=\"{}\" line=\"{}\">\n      <failure type=\"{}\" message=\"{}\">{}&#10;margin {}&#10;repeat: {}</failure>\n    "
      "</testcase>\n",
      xml(problem.place.file), problem.place.line, problem.rule, xml(problem.message), xml(problem.message),
      margin_text(one.margin), xml(one.repro));
}

// What is wrong with the suite as a whole, and what it left out.
Tally of_the_suite(const SuiteResult& result) {
  Tally tally;
  for (const std::string& fault : result.faults) {
    tally.cases += case_head("assay", fault) +
                   fmt::format(">\n      <failure type=\"suite\" message=\"{}\"/>\n    </testcase>\n", xml(fault));
  }
  for (const Skip& skip : result.skips) {
    tally.cases +=
        case_head("assay", skip.what) + fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", xml(skip.why));
  }
  tally.failures = result.faults.size();
  tally.skipped = result.skips.size();
  tally.tests = tally.failures + tally.skipped;
  return tally;
}

}  // namespace

std::string junit_xml(const SuiteResult& result) {
  std::vector<std::pair<std::string, Tally>> suites;
  const std::vector<Problem> problems = problems_of(result);
  auto problem = problems.begin();
  for (const CaseResult& one : result.cases) {
    const std::string variant = variant_label(one.op, one.variant);
    auto suite = std::ranges::find(suites, variant, [](const auto& pair) { return pair.first; });
    if (suite == suites.end()) suite = suites.insert(suite, {variant, {}});
    Tally& tally = suite->second;
    ++tally.tests;
    const bool failed = problem != problems.end() && problem->result == &one;
    tally.failures += failed ? 1 : 0;
    tally.cases += case_head(variant, one.case_name) + (failed ? failure_element(*problem) : "/>\n");
    if (failed) ++problem;
  }
  if (!result.faults.empty() || !result.skips.empty()) suites.emplace_back("assay", of_the_suite(result));
  Tally all;
  std::string body;
  for (const auto& [name, tally] : suites) {
    all.tests += tally.tests;
    all.failures += tally.failures;
    all.skipped += tally.skipped;
    body += tally.element(name);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"assay\" tests=\"{}\" failures=\"{}\" errors=\"0\" "
      "skipped=\"{}\">\n{}</testsuites>\n",
      all.tests, all.failures, all.skipped, body);
}

}  // namespace assay
