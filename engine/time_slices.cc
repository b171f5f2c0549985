#include "engine/time_slices.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace assay {
namespace {

constexpr std::uint64_t kSlice = 100'000;  // nanoseconds, the least that Linux takes

// struct sched_attr, whose header cannot be included beside glibc's sched.h; glibc has a function for neither call.
struct Attributes {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime;  // of SCHED_OTHER the slice, nanoseconds
  std::uint64_t deadline;
  std::uint64_t period;
};

bool get(Attributes& attributes) {
  return syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) == 0 && attributes.policy == SCHED_OTHER;
}

bool set(Attributes attributes, std::uint64_t slice) {
  attributes.runtime = slice;
  return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
}

}  // namespace

ShortTimeSlices::ShortTimeSlices(bool wanted) {
  Attributes now{};
  if (wanted && get(now) && now.runtime > kSlice && set(now, kSlice)) before_ = now.runtime;
}

std::uint64_t ShortTimeSlices::of_this_thread() {
  Attributes now{};
  return get(now) ? now.runtime : 0;
}

ShortTimeSlices::~ShortTimeSlices() {
  Attributes now{};
  if (before_ != 0 && get(now)) set(now, before_);
}

}  // namespace assay
