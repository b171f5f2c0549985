// The system calls that a runner has no use for, as a program for the kernel's filter.
#pragma once

#include <linux/filter.h>

#include <vector>

namespace assay {

// Denied ones fail with EPERM, so that an honest library that tries one goes on. `allow_fork`: new processes are not among them.
// Throws std::runtime_error.
std::vector<sock_filter> denied_calls(bool allow_fork);

}  // namespace assay
