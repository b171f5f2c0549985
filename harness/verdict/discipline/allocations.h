// What a call takes of memory. The program's definitions of malloc, mmap and their kin stand before the C library's, so calls of every library
// count, a plugin's among them; they are weak, and a program with definitions of its own counts nothing. Under sanitizers, whose heap it
// is then, their hooks count.
#pragma once

#include <cstdint>

namespace assay {

struct Allocations {
  std::uint32_t taken = 0;
  std::uint32_t given_back = 0;
};

// Of this thread, while it counts. What the dynamic loader takes is not the kernel's doing: a thread's first touch of a library's
// thread_local.
Allocations allocations();
void count_allocations(bool on);

}  // namespace assay
