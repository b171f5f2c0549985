// What a call starts of threads. The program's definition of pthread_create stands before the C library's, as those of malloc do
// (allocations.h): it is weak, and under sanitizers, who have one too, there is none.
#pragma once

#include <cstdint>

namespace assay {

// By this thread, so far.
std::uint64_t threads_started();

}  // namespace assay
