// --junit, --sarif, --summary and --annotations: what a CI service reads of a check (docs/ci.md).
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "harness/cli/late_file.h"
#include "harness/verdict/suite.h"

namespace assay::cli {

struct CiOutputs {
  std::string junit;
  std::string sarif;
  std::string summary;
  std::string annotations;  // github, gitlab; empty: none

  void add_to(CLI::App& command);
};

// The files that were asked for.
class CiFiles {
 public:
  explicit CiFiles(const CiOutputs& wanted);
  // Files, and on standard error GitHub's annotations.
  void write(const SuiteResult& result, const CheckRequest& request);

 private:
  LateFile junit_;
  LateFile sarif_;
  LateFile summary_;
  LateFile code_quality_;
  bool github_;
};

}  // namespace assay::cli
