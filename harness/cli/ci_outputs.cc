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
  command.add_option("--junit", junit, "Write JUnit XML: a testcase a case");
  command.add_option("--sarif", sarif, "Write SARIF 2.1.0: a result for each failed case");
  command.add_option("--summary", summary, "Write Markdown, as for a step summary");
  command
      .add_option("--annotations", annotations,
                  std::string("github: workflow commands on standard error; gitlab: the file ") + kCodeQuality)
      ->check(one_of({"github", "gitlab"}));
}

CiFiles::CiFiles(const CiOutputs& wanted) : github_(wanted.annotations == "github") {
  const auto open = [](std::optional<AtomicFile>& file, const std::string& path, const char* kind) {
    if (!path.empty()) file.emplace(path, kind);
  };
  open(junit_, wanted.junit, "an XML file of assay");
  open(sarif_, wanted.sarif, kOwnJson);
  open(summary_, wanted.summary, "a text of assay");
  open(code_quality_, wanted.annotations == "gitlab" ? kCodeQuality : "", kOwnJson);
}

void CiFiles::write(const SuiteResult& result, const CheckRequest& request) {
  const auto write = [](std::optional<AtomicFile>& file, const auto& text_of) {
    if (!file) return;
    file->write_text(text_of());
    file->commit();
  };
  write(junit_, [&] { return junit_xml(result); });
  write(sarif_, [&] { return sarif_json(result); });
  write(summary_, [&] { return summary_markdown(result, request); });
  write(code_quality_, [&] { return gitlab_annotations(result); });
  if (github_) std::fputs(github_annotations(result, kMostAnnotations).c_str(), stderr);
}

}  // namespace assay::cli
