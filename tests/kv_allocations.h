// Counts what a test program takes from the heap.
#pragma once

#include <cstdint>

namespace assay {

std::int64_t allocations();  // calls of operator new so far

}  // namespace assay
