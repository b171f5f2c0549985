// The page of `assay diff --html`: one file with plots as inline SVG, styles and script; it fetches nothing.
#pragma once

#include <string>

#include "harness/forensics/diff/diff.h"

namespace assay::diff {

std::string diff_html(const TraceDiff& diff);

}  // namespace assay::diff
