#include "harness/interop/remote/denied_calls.h"

#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <stdexcept>

namespace assay {
namespace {

// By what they reach. Names that this libseccomp, or this machine, does not know are none of its calls.
constexpr const char* kDenied[] = {
    // Other machines, and other processes by a socket.
    "socket",
    "socketpair",
    "connect",
    "bind",
    "listen",
    "accept",
    "accept4",
    // Other processes: their memory, their files, their signals, their limits.
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "process_mrelease",
    "pidfd_open",
    "pidfd_getfd",
    "pidfd_send_signal",
    "kcmp",
    "move_pages",
    "migrate_pages",
    "tkill",
    "setpriority",
    "ioprio_set",
    "setpgid",
    "setsid",
    // What is shared with other processes.
    "shmget",
    "shmat",
    "shmctl",
    "semget",
    "semop",
    "semtimedop",
    "semctl",
    "msgget",
    "msgsnd",
    "msgrcv",
    "msgctl",
    "mq_open",
    "mq_unlink",
    "add_key",
    "request_key",
    "keyctl",
    // System calls by another way than this filter's.
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "io_setup",
    "io_submit",
    "userfaultfd",
    "bpf",
    "perf_event_open",
    "modify_ldt",
    "personality",
    "remap_file_pages",
    // What is mapped, and where nothing is: how a guard page would be told from others.
    "mincore",
    // The system.
    "mount",
    "umount2",
    "move_mount",
    "open_tree",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "pivot_root",
    "chroot",
    "unshare",
    "setns",
    "open_by_handle_at",
    "name_to_handle_at",
    "fanotify_init",
    "quotactl",
    "quotactl_fd",
    "swapon",
    "swapoff",
    "reboot",
    "acct",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "syslog",
    "settimeofday",
    "clock_settime",
    "adjtimex",
    "clock_adjtime",
    "sethostname",
    "setdomainname",
    "ioperm",
    "iopl",
    "vhangup",
    "lookup_dcookie",
};
constexpr const char* kNewProcesses[] = {"fork", "vfork"};

struct Release {
  void operator()(void* filter) const { seccomp_release(filter); }
};

class Filter {
 public:
  explicit Filter(std::uint32_t otherwise) : filter_(seccomp_init(otherwise)) {
    require(filter_ ? 0 : -ENOMEM);
    // Another machine's system calls, as by int 0x80: else they would end the thread alone, and nobody would be told.
    require(seccomp_attr_set(filter_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS)));
  }

  template <class... Conditions>
  void deny(const char* name, int error, Conditions... conditions) {
    const int call = seccomp_syscall_resolve_name(name);
    if (call != __NR_SCMP_ERROR)
      require(seccomp_rule_add(filter_.get(), SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)), call, sizeof...(conditions),
                               conditions...));
  }

  // This libseccomp writes programs to files alone.
  std::vector<sock_filter> program() {
    require(seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2));  // a tree, not a chain
    const int file = memfd_create("filter", MFD_CLOEXEC);
    if (file < 0) require(-errno);
    const int written = seccomp_export_bpf(filter_.get(), file);
    const off_t bytes = lseek(file, 0, SEEK_END);
    std::vector<sock_filter> all(static_cast<std::size_t>(bytes) / sizeof(sock_filter));
    const ssize_t got = pread(file, all.data(), all.size() * sizeof(sock_filter), 0);
    close(file);
    require(written);
    if (got != bytes) require(-EIO);
    return all;
  }

 private:
  static void require(int result) {
    if (result < 0) throw std::runtime_error("libseccomp cannot make the runner's filter: error " + std::to_string(-result));
  }
  std::unique_ptr<void, Release> filter_;
};

}  // namespace

std::vector<sock_filter> denied_calls(bool allow_fork) {
  Filter filter(SCMP_ACT_ALLOW);
  for (const char* name : kDenied) filter.deny(name, EPERM);
  // Another process's affinity, scheduling and limits: 0 is one's own.
  for (const char* name : {"sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr", "prlimit64"})
    filter.deny(name, EPERM, scmp_arg_cmp{0, SCMP_CMP_NE, 0, 0});
  if (allow_fork) return filter.program();
  for (const char* name : kNewProcesses) filter.deny(name, EPERM);
  filter.deny("clone", EPERM, scmp_arg_cmp{0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0});
  filter.deny("clone3", ENOSYS);  // its flags lie in memory; the C library then takes clone
  return filter.program();
}

}  // namespace assay
