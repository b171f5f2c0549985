// What did not pass, as every form for CI tells it.
#pragma once

#include <string>
#include <vector>

#include "harness/reports/ci/source_place.h"
#include "harness/verdict/suite.h"

namespace assay {

struct Problem {
  const CaseResult* result;
  std::string variant;  // its label
  std::string rule;     // the check that failed, or "mistrusted"
  std::string message;
  SourcePlace place;
  std::string fingerprint;  // the same from run to run as long as this variant fails this case by this check
};

// In the order in which they were run.
std::vector<Problem> problems_of(const SuiteResult& result);

inline constexpr const char* kMistrusted = "mistrusted";
inline constexpr const char* kMistrustedMeans =
    "A kernel that returns zeros would pass this case, and no tag says that this is meant";

}  // namespace assay
