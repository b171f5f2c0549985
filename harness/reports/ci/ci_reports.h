// What a suite found, in the forms that CI services read. docs/ci.md says who reads which.
#pragma once

#include <string>

#include "harness/verdict/suite.h"

namespace assay {

// JUnit: a testsuite a variant, a testcase a case; the faults of the suite are testcases of the suite "assay", what was not run is skipped.
std::string junit_xml(const SuiteResult& result);

// SARIF 2.1.0: a rule a check, a result for each case that did not pass.
std::string sarif_json(const SuiteResult& result);

// Workflow commands, a line for each case that did not pass, at most `most` and one line that says how many more: GitHub shows ten of a step.
std::string github_annotations(const SuiteResult& result, std::size_t most);

// GitLab's Code Quality report: the same cases as a JSON array.
std::string gitlab_annotations(const SuiteResult& result);

// Markdown, as for a step summary: what `assay report --markdown` prints.
std::string summary_markdown(const SuiteResult& result, const CheckRequest& request);

}  // namespace assay
