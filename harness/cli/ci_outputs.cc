#include "harness/cli/ci_outputs.h"

#include <cstdio>

#include "golden/output_rule.h"
#include "harness/cli/values.h"
#include "harness/reports/ci/ci_reports.h"

namespace assay::cli {
namespace {

constexpr std::size_t kMostAnnotations = 9;  // GitHub shows ten errors of a step: these, and how many more there are
constexpr const char* kCodeQuality = "gl-code-quality-report.json";  // as GitLab's own templates name it

}  // namespace

void CiOutputs::add_to(CLI::App& command) {
  command.add_option("--junit", junit, "Write JUnit XML: a testcase for each case");
  command.add_option("--sarif", sarif, "Write SARIF 2.1.0: a result for each failed case");
  command.add_option("--summary", summary, "Write Markdown, for a CI job's summary");
  command
      .add_option("--annotations", annotations,
                  std::string("github: workflow commands on standard error; gitlab: the file ") + kCodeQuality)
      ->check(one_of({"github", "gitlab"}));
}

CiFiles::CiFiles(const CiOutputs& wanted)
    : junit_(wanted.junit, "an XML file of assay"),
      sarif_(wanted.sarif, kOwnJson),
      summary_(wanted.summary, "a text of assay"),
      code_quality_(wanted.annotations == "gitlab" ? kCodeQuality : "", kOwnJson),
      github_(wanted.annotations == "github") {}

void CiFiles::write(const SuiteResult& result, const CheckRequest& request) {
  junit_.write([&] { return junit_xml(result); });
  sarif_.write([&] { return sarif_json(result); });
  summary_.write([&] { return summary_markdown(result, request); });
  code_quality_.write([&] { return gitlab_annotations(result); });
  if (github_) std::fputs(github_annotations(result, kMostAnnotations).c_str(), stderr);
}

}  // namespace assay::cli
