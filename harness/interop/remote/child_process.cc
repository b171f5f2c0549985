#include "harness/interop/remote/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "harness/interop/remote/child_start.h"
#include "harness/interop/runner/foreign.h"
#include "harness/interop/runner/wire.h"

namespace assay {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostPrinted = 1 << 16;  // bytes of a runner that are shown
constexpr int kMostPieces = 256;               // that are taken at a time
constexpr milliseconds kMoment{1000};          // in which a program that has closed its output ends

[[noreturn]] void fail(const std::string& what, int error) {
  throw std::runtime_error(what + ": " + strerror(error));
}

std::vector<std::string> environment() {
  std::vector<std::string> all;
  for (char** one = environ; *one != nullptr; ++one) all.emplace_back(*one);
  return all;
}

}  // namespace

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : std::string("SIG") + name;
}

ChildProcess::ChildProcess(std::vector<std::string> argv, int shared, const Isolation* isolation, bool unbound) {
  // A socket each, since a write to one that is gone can be told not to raise SIGPIPE, and since no path of /proc opens one again.
  int to[2];
  int from[2];
  int report[2];
  int error_ends[2] = {-1, -1};
  const bool own = isolation != nullptr || unbound;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to) != 0 ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, from) != 0 ||
      (own && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, error_ends) != 0))
    fail("socketpair", errno);
  if (pipe2(report, O_CLOEXEC) != 0) fail("pipe", errno);
  in_ = to[0];
  out_ = from[0];
  printed_ = error_ends[0];
  shutdown(to[1], SHUT_WR);
  shutdown(from[1], SHUT_RD);
  const StartTexts words(std::move(argv));
  std::vector<std::string> surroundings = environment();
  if (unbound) surroundings.push_back(std::string(kNotAsked) + "=1");
  const StartTexts variables(std::move(surroundings));
  pid_ = start_child({words.pointers(), variables.pointers(), to[1], from[1], report[1], error_ends[1], shared, isolation});
  for (const int file : {to[1], from[1], report[1], error_ends[1]}) {
    if (file >= 0) close(file);
  }
  Begun begun;
  int error = 0;
  while (pid_ > 0 && ::read(report[0], &begun, sizeof begun) == sizeof begun) error = begun.error;
  close(report[0]);
  outcome_ = begun.outcome;
  fcntl(in_, F_SETFL, O_NONBLOCK);
  fcntl(out_, F_SETFL, O_NONBLOCK);
  if (pid_ > 0 && error == 0) return;
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
  pid_ = -1;
  close_channels();
  if (outcome_.unreadable < 0) fail("cannot start " + std::string(words.pointers()[0]), error);
}

ChildProcess::~ChildProcess() {
  close_channels();
  if (pid_ < 0) return;
  kill_group();
  waitpid(pid_, nullptr, 0);
}

void ChildProcess::close_channels() {
  show_printed();
  if (!line_.empty()) show_line();
  for (int* file : {&in_, &out_, &printed_}) {
    if (*file >= 0) close(*file);
    *file = -1;
  }
}

std::chrono::nanoseconds ChildProcess::kept_waiting() const {
  std::ifstream file(fmt::format("/proc/{}/schedstat", pid_));
  std::int64_t ran = 0;
  std::int64_t waited = 0;
  file >> ran >> waited;
  return std::chrono::nanoseconds(waited);
}

// True if `file` is ready before the deadline. What is printed meanwhile is taken, so that who prints need not wait.
bool ChildProcess::await(int file, short events, Deadline deadline) {
  constexpr std::int64_t kLong = 100;  // milliseconds; most answers come before
  std::optional<std::chrono::nanoseconds> before;
  for (;;) {
    auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    if (before && left.count() <= 0) left += std::chrono::ceil<milliseconds>(kept_waiting() - *before);
    pollfd both[] = {{file, events, 0}, {printed_, POLLIN, 0}};
    const int ready = poll(both, 2, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, before ? 1 << 30 : kLong)));
    if (ready < 0 && errno != EINTR) return false;
    if (ready > 0 && both[1].revents != 0) show_printed();
    if (ready > 0 && both[0].revents != 0) return true;
    if (ready >= 0 && left.count() <= 0) return false;
    if (ready == 0 && !before) before = kept_waiting();
  }
}

// A plugin prints what it likes: each line is shown for what it is, and in letters that no terminal takes for anything else.
void ChildProcess::show_printed() {
  char bytes[4096];
  for (int piece = 0; piece < kMostPieces && printed_ >= 0; ++piece) {
    const ssize_t got = recv(printed_, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
      close(printed_);
      printed_ = -1;
      return;
    }
    for (const char letter : std::string_view(bytes, static_cast<std::size_t>(got))) {
      if (letter == '\n' || line_.size() == wire::kMostShown) show_line();
      if (letter != '\n') line_ += letter;
    }
  }
}

void ChildProcess::show_line() {
  const std::string text = wire::shown(line_);
  if (shown_ < kMostPrinted) std::fprintf(stderr, "[runner] %s\n", text.c_str());
  shown_ += text.size() + 1;
  if (shown_ >= kMostPrinted && shown_ - text.size() - 1 < kMostPrinted)
    std::fputs("[runner] what more it prints is left out\n", stderr);
  line_.clear();
}

void ChildProcess::kill_group() const {
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);  // if it was not in its group yet
}

Io ChildProcess::write(std::span<const std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t now = send(in_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (now >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(now));
    } else if (errno == EAGAIN) {
      if (!await(in_, POLLOUT, deadline)) return Io::late;
    } else if (errno != EINTR) {
      return Io::ended;
    }
  }
  return Io::done;
}

Io ChildProcess::read(std::span<std::byte> bytes, Deadline deadline, std::size_t& got) {
  got = 0;
  while (got < bytes.size()) {
    const ssize_t now = ::read(out_, bytes.data() + got, bytes.size() - got);
    if (now > 0) {
      got += static_cast<std::size_t>(now);
    } else if (now == 0 || (errno != EAGAIN && errno != EINTR)) {
      return Io::ended;
    } else if (errno == EAGAIN && !await(out_, POLLIN, deadline)) {
      return Io::late;
    }
  }
  return Io::done;
}

bool ChildProcess::stirs() {
  return await(out_, POLLIN, std::chrono::steady_clock::now());
}

bool ChildProcess::stop() const {
  int status = 0;
  if (kill(pid_, SIGSTOP) != 0) return false;
  siginfo_t about{};
  while (waitid(P_PID, static_cast<id_t>(pid_), &about, WSTOPPED | WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  if (about.si_code != CLD_STOPPED) return false;
  return waitpid(pid_, &status, WUNTRACED) == pid_;
}

void ChildProcess::go_on() const {
  kill(pid_, SIGCONT);
}

std::string ChildProcess::ending() {
  if (pid_ < 0) return ending_;
  close_channels();
  int status = 0;
  const Deadline deadline = std::chrono::steady_clock::now() + kMoment;
  pid_t ended = 0;
  while ((ended = waitpid(pid_, &status, WNOHANG)) == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(2));
  }
  if (ended == 0) {
    kill_group();
    waitpid(pid_, &status, 0);
    ending_ = "closed its output, but lives";
  } else if (WIFSIGNALED(status)) {
    ending_ = "died of " + signal_name(WTERMSIG(status));
  } else {
    const int code = WEXITSTATUS(status);
    ending_ = "exited with status " + std::to_string(code);
    if (code > 128) ending_ += " (a shell's way to say " + signal_name(code - 128) + ")";
  }
  kill(-pid_, SIGKILL);  // what it may have left behind
  pid_ = -1;
  return ending_;
}

}  // namespace assay
