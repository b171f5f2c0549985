// How long the system lets a thread run before another has its turn.
#pragma once

#include <cstdint>

namespace assay {

// While it lives the thread that made it, and those that this thread starts, take turns every tenth of a millisecond with what else wants
// their cores. Threads that meet after each step of a few microseconds would else wait for whole slices, of 3 ms and more, of another
// program: 40 tokens of a small model took up to 4.5 times as long beside one, and take twice as long with this. Linux has it from 6.12
// on; elsewhere nothing happens.
class ShortTimeSlices {
 public:
  explicit ShortTimeSlices(bool wanted);
  ShortTimeSlices(const ShortTimeSlices&) = delete;
  ShortTimeSlices& operator=(const ShortTimeSlices&) = delete;
  ~ShortTimeSlices();  // in the same thread

  // Nanoseconds, of this thread; 0 where the system does not tell.
  static std::uint64_t of_this_thread();

 private:
  std::uint64_t before_ = 0;  // nanoseconds; 0: nothing was changed
};

}  // namespace assay
