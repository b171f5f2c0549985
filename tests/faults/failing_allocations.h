// Lets one allocation fail, and counts what is not given back. Linking failing_allocations.cc puts the program's own malloc and its kin,
// mmap and munmap before the C library's; under a sanitizer, whose heap it is then, nothing fails and nothing is counted.
#pragma once

#include <cstdint>

namespace assay::faults {

bool can_fail_allocations();

// From now on this thread's `number`-th call of malloc, calloc, realloc, an aligned one or mmap fails; 0: none. Calls of the
// dynamic loader are left out: it ends the process where it gets none.
void fail_allocation(std::int64_t number);
// Disarms. How many calls there were; `number` or more: it failed.
std::int64_t stop_failing();

// Taken and not given back, by all threads.
std::int64_t heap_blocks();
std::int64_t mapped_bytes();

}  // namespace assay::faults
