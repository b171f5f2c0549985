#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/reports/ci/ci_reports.h"
#include "harness/reports/ci/problems.h"
#include "harness/reports/report.h"
#include "harness/reports/report_page/words.h"

namespace assay {
namespace {

// What ends a workflow command, or a property of it, in GitHub's own escapes.
std::string escaped(std::string_view text, std::string_view ends) {
  std::string out;
  for (const char c : text) out += ends.find(c) == std::string_view::npos ? std::string(1, c) : fmt::format("%{:02X}", c);
  return out;
}
std::string github_property(std::string_view text) {
  return escaped(text, "%\r\n:,");
}
std::string github_message(std::string_view text) {
  return escaped(text, "%\r\n");
}

}  // namespace

std::string github_annotations(const SuiteResult& result, std::size_t most) {
  const std::vector<Problem> problems = problems_of(result);
  std::string out;
  for (std::size_t i = 0; i < std::min(problems.size(), most); ++i) {
    const Problem& one = problems[i];
    out += fmt::format("::error file={},line={},title={}::{}\n", github_property(one.place.file), one.place.line,
                       github_property(one.variant + ", case " + one.result->case_name + ": " + one.rule),
                       github_message(one.message + "\nrepeat: " + one.result->repro));
  }
  for (const std::string& fault : result.faults) out += "::error title=assay::" + github_message(fault) + "\n";
  if (problems.size() > most) out += fmt::format("::error title=assay::and {} failures more\n", problems.size() - most);
  return out;
}

std::string gitlab_annotations(const SuiteResult& result) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Problem& one : problems_of(result)) {
    out.push_back({{"description", fmt::format("{}, case {}: {}; repeat: {}", one.variant, one.result->case_name, one.message,
                                               one.result->repro)},
                   {"check_name", "assay/" + one.rule},
                   {"fingerprint", one.fingerprint},
                   {"severity", one.result->failure ? "major" : "minor"},
                   {"location", {{"path", one.place.file}, {"lines", {{"begin", one.place.line}}}}}});
  }
  return out.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string summary_markdown(const SuiteResult& result, const CheckRequest& request) {
  const nlohmann::json json =
      nlohmann::json::parse(suite_json(result, request).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return report_page::report_markdown(report_page::join({report_page::part_of(json, "this run")}, false));
}

}  // namespace assay
