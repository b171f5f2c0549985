// Seconds.
#pragma once

#include <time.h>

namespace assay {

inline double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Processor time of this thread: what other processes take of it does not count.
inline double thread_seconds() {
  return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

inline double wall_seconds() {
  return seconds_of(CLOCK_MONOTONIC);
}

}  // namespace assay
