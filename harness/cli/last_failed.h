// What failed in the last `assay check` of a folder, kept for --failed under XDG_STATE_HOME.
#pragma once

#include <map>
#include <string>

#include "harness/cli/check_options.h"

namespace assay::cli {

struct LastFailed {
  CheckSelection selection;  // with the seed that was drawn
  std::map<std::string, FailedCases> cases;
};

// Of the folder that this process is in: kept where any case failed, else forgotten. A failure to write is told on standard error,
// and harms nothing else.
void keep_failed(CheckSelection selection, const SuiteResult& result);

// Throws std::invalid_argument where nothing failed, or nothing was checked.
LastFailed last_failed();

}  // namespace assay::cli
