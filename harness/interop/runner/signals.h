// Which signals a thread of the runner lets wait.
#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace assay {

inline constexpr std::uint64_t kAllButAlarm = ~(std::uint64_t{1} << (SIGALRM - 1));  // which ends the process, and has no handler

// By the system call: the C library keeps two signals for itself, and lets nobody block them.
inline std::uint64_t set_mask(std::uint64_t mask) {
  std::uint64_t before = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, sizeof mask);
  return before;
}

}  // namespace assay
