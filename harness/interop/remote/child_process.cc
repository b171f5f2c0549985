#include "harness/interop/remote/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <thread>

#include "harness/interop/runner/timed_data.h"

namespace assay {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kMoment{1000};  // in which a program that has closed its output ends

[[noreturn]] void fail(const std::string& what, int error) {
  throw std::runtime_error(what + ": " + strerror(error));
}

// True if `file` is ready before the deadline.
bool await(int file, short events, Deadline deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd one{file, events, 0};
    const int ready = poll(&one, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1 << 30)));
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) return false;
  }
}

}  // namespace

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : std::string("SIG") + name;
}

ChildProcess::ChildProcess(std::vector<std::string> argv, int shared) {
  // A socket to it, since a write to one that is gone can be told not to raise SIGPIPE; a pipe from it.
  int to[2];
  int from[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to) != 0) fail("socketpair", errno);
  if (pipe2(from, O_CLOEXEC) != 0) fail("pipe", errno);
  in_ = to[0];
  out_ = from[0];
  shutdown(to[1], SHUT_WR);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
  if (shared >= 0) posix_spawn_file_actions_adddup2(&actions, shared, kSharedDescriptor);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> words;
  for (std::string& word : argv) words.push_back(word.data());
  words.push_back(nullptr);
  const int error = posix_spawn(&pid_, argv[0].c_str(), &actions, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(to[1]);
  close(from[1]);
  fcntl(in_, F_SETFL, O_NONBLOCK);
  fcntl(out_, F_SETFL, O_NONBLOCK);
  if (error == 0) return;
  pid_ = -1;
  close_channels();
  fail("cannot start " + argv[0], error);
}

ChildProcess::~ChildProcess() {
  close_channels();
  if (pid_ < 0) return;
  kill_group();
  waitpid(pid_, nullptr, 0);
}

void ChildProcess::close_channels() {
  for (int* file : {&in_, &out_}) {
    if (*file >= 0) close(*file);
    *file = -1;
  }
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

bool ChildProcess::stirs() const {
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
