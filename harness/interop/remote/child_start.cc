#include "harness/interop/remote/child_start.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>

#include "harness/interop/runner/timed_data.h"

namespace assay {
namespace {

// Of all processes that may be ended where memory lacks, this one.
void offer_to_end() {
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  [[maybe_unused]] const auto written = ::write(file, "1000", 4);
  close(file);
}

// What the child does: system calls alone, since its memory is its parent's.
[[noreturn]] void begin(const Beginning& how, const sigset_t& unblocked) {
  Begun begun;
  const auto tell = [&] { return write(how.report, &begun, sizeof begun); };
  setpgid(0, 0);
  offer_to_end();
  dup2(how.in, STDIN_FILENO);
  dup2(how.out, STDOUT_FILENO);
  if (how.error >= 0) dup2(how.error, STDERR_FILENO);
  if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0) {  // the goldens' library leaves its files open to children
    for (int file = 3; file < 4096; ++file) fcntl(file, F_SETFD, FD_CLOEXEC);
  }
  if (how.shared == kSharedDescriptor) fcntl(kSharedDescriptor, F_SETFD, 0);
  if (how.shared >= 0) dup2(how.shared, kSharedDescriptor);
  if (how.isolation != nullptr) begun.outcome = how.isolation->enter();
  if (begun.outcome.unreadable >= 0) begun.error = EACCES;
  tell();
  if (begun.error == 0) {
    sigprocmask(SIG_SETMASK, &unblocked, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // whatever its call is doing
    execve(how.words[0], how.words, how.variables);
    begun.error = errno;
    tell();
  }
  _exit(127);
}

}  // namespace

// Signals wait: a handler would run in the child on its parent's memory.
pid_t start_child(const Beginning& how) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int dumpable = prctl(PR_GET_DUMPABLE);  // memory that a child without rights has had is not: until it is said again
  const pid_t child = vfork();                  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
  if (child == 0) begin(how, before);
  if (dumpable == 1) prctl(PR_SET_DUMPABLE, 1);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return child;
}

}  // namespace assay
