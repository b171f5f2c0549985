// The page of `assay diff --html`: what --json prints, with the rows' errors, drawn by page.html.
#pragma once

#include <string>

#include "harness/forensics/diff/diff.h"

namespace assay::diff {

std::string diff_html(const TraceDiff& diff);

}  // namespace assay::diff
