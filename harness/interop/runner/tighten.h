// What a runner gives up of itself, for good: filters of system calls, written by hand since it has the standard library alone. Linux on
// x86-64 and aarch64. Each function returns 0, or the errno of a kernel that has no such filter.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay {

// Address space of this process in which nothing else lies, from a multiple of 4 GiB on: inaccessible until something is put there.
struct Arena {
  std::uint8_t* begin = nullptr;
  std::size_t bytes = 0;
};

// Null: there is not so much.
Arena reserve_arena();

// For every thread that this one starts, and for itself: another program in this one's place, signals to other processes, system calls
// that are newer than this program.
int give_up_others();

// For this thread, which is about to run what is foreign, and every thread that it starts: to change what is mapped in the arena, in
// this program's image or in those of the libraries that it has now; to handle SIGSEGV, SIGBUS and
// SIGALRM; the timer that ends this process; the files `in` and `out`; further filters.
int give_up_arena(const Arena& arena, int in, int out);

}  // namespace assay
