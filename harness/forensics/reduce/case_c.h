// A failing call as one program in C that needs nothing of ours.
#pragma once

#include <string>

#include "harness/forensics/reduce/reduce.h"

namespace assay {

// Why no such program can show the failure: of a kernel whose outputs are encodings, and of what only the bench looks at. Empty: it can.
std::string not_in_c(const Op& op, const Failure& failure);

// `kernel`: the function's name, or the kernel's in its plugin, which the program looks for where its command line does not name another.
std::string case_in_c(const Op& op, const Reduction& reduction, const Candidate& candidate, const std::string& kernel);

}  // namespace assay
