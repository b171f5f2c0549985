#include "harness/verdict/suite_processes.h"

#include <fmt/format.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "harness/interop/runner/huge_pages.h"
#include "harness/verdict/guard.h"
#include "harness/verdict/suite_worker.h"

namespace assay {
namespace {

struct Process {
  pid_t pid = -1;
  int socket = -1;
  bool from_front = false;
  std::string received;
  std::optional<std::size_t> unit;
  std::unique_ptr<GuardedMemory> shared;  // an Outbox
  Outbox& outbox() const { return *reinterpret_cast<Outbox*>(shared->begin()); }
};

// Cases take and free the same megabytes again and again: the heap keeps them, on huge pages where the system has some, so that a process
// forked from here copies few.
void keep_freed_memory() {
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_MMAP_MAX, 0);
  constexpr std::size_t kHeap = 256 * kHugePage;
  void* const heap = std::aligned_alloc(kHugePage, kHeap);
  if (heap != nullptr) madvise(heap, kHeap, MADV_HUGEPAGE);
  std::free(heap);
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

class Processes {
 public:
  Processes(const SuitePlan& plan, std::span<const Unit> units, const UnitEvents& events)
      : plan_(plan), units_(units), events_(events), taken_(units.size()) {
    std::vector<std::size_t> op(units.size());  // numbered
    for (std::size_t i = 1; i < units.size(); ++i) op[i] = op[i - 1] + (units[i].op == units[i - 1].op ? 0 : 1);
    from_back_.resize(units.size());
    std::iota(from_back_.begin(), from_back_.end(), 0);
    std::ranges::stable_sort(from_back_, std::greater(), [&](std::size_t unit) { return op[unit]; });
  }
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  ~Processes() {
    for (Process& one : processes_) end(one, all_done_ ? 0 : SIGKILL);
  }

  void run(int jobs) {
    processes_.resize(std::min(static_cast<std::size_t>(jobs), units_.size()));
    for (Process& one : processes_) {
      one.from_front = &one == processes_.data();
      start(one);
    }
    while (std::ranges::any_of(processes_, [](const Process& one) { return one.unit.has_value(); })) {
      wait();
      if (events_.stop()) return;
      events_.tick();
    }
    all_done_ = true;
  }

 private:
  void start(Process& one) {
    const std::optional<std::size_t> unit = next(one.from_front);
    if (!unit) return;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail();
    one.shared = std::make_unique<GuardedMemory>(sizeof(Outbox));
    new (one.shared->begin()) Outbox;
    const pid_t parent = getpid();
    one.pid = fork();
    if (one.pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      for (const int signal : {SIGINT, SIGHUP})
        ::signal(signal, SIG_IGN);  // of the terminal: the parent is told too, and ends this one
      ::signal(SIGTERM, SIG_DFL);
      for (const Process& other : processes_) close(other.socket);
      close(ends[0]);
      keep_freed_memory();
      serve_units(plan_, units_, ends[1], one.outbox());
      _exit(0);
    }
    close(ends[1]);
    one.socket = ends[0];
    if (one.pid < 0) fail();
    give(one, *unit);
  }
  [[noreturn]] static void fail() {
    throw std::runtime_error(std::string("cannot start a process: ") + std::generic_category().message(errno));
  }

  // The lowest of its op that nobody has had, so that an op's first unit is the first in whatever process.
  std::optional<std::size_t> next(bool from_front) {
    for (std::size_t i = 0; i < units_.size(); ++i) {
      const std::size_t unit = from_front ? i : from_back_[i];
      if (!taken_[unit]) {
        taken_[unit] = true;
        return unit;
      }
    }
    return std::nullopt;
  }

  void give(Process& to, std::optional<std::size_t> unit) {
    to.unit = unit;
    if (!unit) return;
    events_.started(*unit);
    const auto number = static_cast<std::uint32_t>(*unit);
    send_all(to.socket, &number, sizeof number);  // where it fails, reading does too
  }

  void wait() {
    std::vector<pollfd> files;
    for (const Process& one : processes_) files.push_back({one.unit ? one.socket : -1, POLLIN, 0});
    constexpr int kTick = 100;  // milliseconds
    if (poll(files.data(), files.size(), kTick) <= 0) return;
    for (std::size_t i = 0; i < files.size() && !events_.stop(); ++i) {
      if (files[i].revents != 0) hear(processes_[i]);
    }
  }

  void hear(Process& from) {
    char some[1 << 16];
    const ssize_t got = recv(from.socket, some, sizeof some, 0);
    if (got < 0 && errno == EINTR) return;
    if (got <= 0) return replace(from);
    from.received.append(some, static_cast<std::size_t>(got));
    take_received(from);
  }
  void take_received(Process& from) {
    std::string_view left = from.received;
    for (std::uint64_t size = 0; left.size() >= sizeof size;) {
      left.copy(reinterpret_cast<char*>(&size), sizeof size);
      if (left.size() - sizeof size < size) break;
      take(from, message_from(left.substr(sizeof size, size)));
      left.remove_prefix(sizeof size + size);
    }
    from.received.erase(0, from.received.size() - left.size());
  }

  void take(Process& from, SuiteMessage message) {
    if (message.what == SuiteMessage::What::error) throw std::runtime_error(message.error);
    const bool ended = message.what == SuiteMessage::What::unit;
    events_.said(*from.unit, std::move(message));
    if (ended) give(from, next(from.from_front));
  }

  void replace(Process& lost) {
    const std::string how = how_it_ended(end(lost, 0));
    lost.received += lost.outbox().text();
    take_received(lost);
    events_.lost(*lost.unit, how);
    lost.unit.reset();
    lost.received.clear();
    start(lost);
  }

  // Its status. One that is not killed ends by itself, since there is nothing more to hear.
  static int end(Process& one, int signal) {
    int status = 0;
    if (one.socket >= 0) close(one.socket);
    if (one.pid > 0) {
      if (signal != 0) kill(one.pid, signal);
      while (waitpid(one.pid, &status, 0) < 0 && errno == EINTR) {
      }
    }
    one.pid = one.socket = -1;
    return status;
  }

  const SuitePlan& plan_;
  std::span<const Unit> units_;
  const UnitEvents& events_;
  std::vector<bool> taken_;
  std::vector<std::size_t> from_back_;
  std::vector<Process> processes_;
  bool all_done_ = false;
};

}  // namespace

void run_in_processes(const SuitePlan& plan, std::span<const Unit> units, int jobs, const UnitEvents& events) {
  Processes(plan, units, events).run(jobs);
}

}  // namespace assay
