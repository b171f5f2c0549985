// Failures of one kind together.
#pragma once

#include <string>
#include <vector>

#include "harness/verdict/suite.h"

namespace assay {

// Cases of one variant that fail in the same manner; in the suite's order.
struct FailureKind {
  std::string label;    // the variant, as tables show it
  std::string check;    // "bound"; "mistrusted"
  std::string message;  // of the first, with # for numbers
  std::vector<const CaseResult*> cases;
};

// In the order of their first cases. They point into `cases`.
std::vector<FailureKind> failure_kinds(const std::vector<CaseResult>& cases);

// "y[3, 0] = 0x41 (2.5), expected nan" becomes "y[#] = # (#), expected #".
std::string without_numbers(const std::string& message);

}  // namespace assay
