// What `assay explain` and `assay check --explain` share.
#pragma once

#include <vector>

#include "harness/forensics/explain/explain.h"

namespace assay::cli {

// The ops that the request names, one after the other, with a line of progress; up to an interrupt.
std::vector<why::ExplainResult> explained(const CheckRequest& request, const std::vector<std::string>& ops, double seconds);

inline constexpr double kExplainSeconds = 300;  // of a kernel

}  // namespace assay::cli
