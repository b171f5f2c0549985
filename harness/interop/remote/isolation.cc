#include "harness/interop/remote/isolation.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "harness/interop/remote/denied_calls.h"
#include "harness/interop/remote/needed_files.h"

namespace assay {
namespace {

constexpr unsigned kNobody = 65534;

// Landlock's ABI as far as it is used; the headers of Debian 12 end before it does.
namespace landlock {
constexpr std::uint64_t kExecute = 1 << 0;
constexpr std::uint64_t kWriteFile = 1 << 1;
constexpr std::uint64_t kReadFile = 1 << 2;
constexpr std::uint64_t kReadFolder = 1 << 3;
constexpr int kPathBeneath = 1;

struct Ruleset {
  std::uint64_t files;
  std::uint64_t net;    // from ABI 4 on: TCP's bind and connect
  std::uint64_t scope;  // from ABI 6 on: abstract sockets, signals
};
struct [[gnu::packed]] PathRule {
  std::uint64_t access;
  std::int32_t file;
};

// Over nothing yet, with all rights that this kernel's ABI knows. -1: it has none.
int new_ruleset() {
  const long abi = syscall(SYS_landlock_create_ruleset, nullptr, 0, 1);
  if (abi < 1) return -1;
  constexpr int kFileRights[] = {0, 13, 14, 15, 15, 16};  // by ABI; from 5 on ioctl on devices is among them
  const Ruleset all{(std::uint64_t{1} << kFileRights[std::min(abi, 5L)]) - 1, 3, 3};
  const std::size_t known = abi < 4 ? 8 : abi < 6 ? 16 : 24;
  return static_cast<int>(syscall(SYS_landlock_create_ruleset, &all, known, 0));
}
void add(int ruleset, int file, std::uint64_t access) {
  const PathRule rule{access, file};
  syscall(SYS_landlock_add_rule, ruleset, kPathBeneath, &rule, 0);
}
}  // namespace landlock

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

// As a user of no rights who was root: each by its system call, since the C library's would speak to the threads of the parent.
int become_nobody() {
  if (syscall(SYS_setgroups, 0, nullptr) != 0) return errno;
  if (syscall(SYS_setresgid, kNobody, kNobody, kNobody) != 0) return errno;
  return syscall(SYS_setresuid, kNobody, kNobody, kNobody) == 0 ? 0 : errno;
}

// Root by name: it can read what is its own, or can be read past the owner's rights, and no more.
int give_up_capabilities() {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  const std::uint32_t reading = 1U << CAP_DAC_READ_SEARCH;
  const __user_cap_data_struct data[2] = {{reading, reading, 0}, {0, 0, 0}};
  return syscall(SYS_capset, &head, data) == 0 ? 0 : errno;
}

}  // namespace

std::string IsolationState::to_string() const {
  if (missing.empty()) return joined(in_force);
  if (in_force.empty()) return "none (" + joined(missing) + ")";
  return joined(in_force) + "; missing: " + joined(missing);
}

Isolation::Isolation(const std::string& program, const std::vector<std::string>& plugins, const IsolationRequest& request)
    : needed_{program}, ruleset_(landlock::new_ruleset()), filter_(denied_calls(request.allow_fork)), root_(geteuid() == 0) {
  needed_.insert(needed_.end(), plugins.begin(), plugins.end());
  for (const std::string& path : needed_files(needed_)) let_read(path);
  for (const std::string& path : request.readable) let_read(path);
  let_read("/dev/null", true);
}

Isolation::~Isolation() {
  if (ruleset_ >= 0) close(ruleset_);
}

// What is not there needs no rule.
void Isolation::let_read(const std::string& path, bool write) const {
  const int file = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (file < 0) return;
  struct stat about {};
  fstat(file, &about);
  landlock::add(ruleset_, file,
                landlock::kExecute | landlock::kReadFile | (S_ISDIR(about.st_mode) ? landlock::kReadFolder : 0) |
                    (write ? landlock::kWriteFile : 0));
  close(file);
}

int Isolation::restrict_files() const noexcept {
  if (ruleset_ < 0) return ENOSYS;
  // The file that counts the pages of this very process.
  const int pages = open("/proc/self/statm", O_PATH | O_CLOEXEC);
  landlock::add(ruleset_, pages, landlock::kReadFile);
  return syscall(SYS_landlock_restrict_self, ruleset_, 0) == 0 ? 0 : errno;
}

Isolation::Outcome Isolation::enter() const noexcept {
  Outcome outcome;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) outcome.seccomp = outcome.landlock = errno;
  if (root_) outcome.root = root_kept_.empty() ? become_nobody() : give_up_capabilities();
  for (std::size_t f = 0; root_ && root_kept_.empty() && f < needed_.size(); ++f) {
    if (syscall(SYS_faccessat, AT_FDCWD, needed_[f].c_str(), f == 0 ? R_OK | X_OK : R_OK) == 0) continue;
    outcome.unreadable = static_cast<int>(f);
    return outcome;
  }
  if (outcome.landlock == 0) outcome.landlock = restrict_files();
  const sock_fprog program{static_cast<unsigned short>(filter_.size()), const_cast<sock_filter*>(filter_.data())};
  if (outcome.seccomp == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) outcome.seccomp = errno;
  return outcome;
}

void Isolation::keep_root(const Outcome& outcome) {
  const std::string& file = needed_[static_cast<std::size_t>(outcome.unreadable)];
  root_kept_ = "root kept: " + file + " is not readable by nobody";
  if (access(file.c_str(), F_OK) != 0) root_kept_ = "root kept: " + file + " is not there";
}

IsolationState Isolation::state(const Outcome& outcome) const {
  IsolationState state;
  const auto tell = [&state](const std::string& part, int error) {
    if (error == 0) {
      state.in_force.push_back(part);
    } else {
      state.missing.push_back(part + " (" + (error == ENOSYS || error == EINVAL ? "this kernel has none" : strerror(error)) +
                              ")");
    }
  };
  tell("seccomp", outcome.seccomp);
  tell("landlock", outcome.landlock);
  if (root_kept_.empty()) {
    tell("no root", outcome.root);
  } else {
    state.missing.push_back("no root (" + root_kept_ + ")");
  }
  return state;
}

}  // namespace assay
