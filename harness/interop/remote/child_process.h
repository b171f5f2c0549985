// A program as a child, with a channel to its standard input and one from its standard output, and no wait without a deadline.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "harness/interop/remote/isolation.h"

namespace assay {

using Deadline = std::chrono::steady_clock::time_point;

enum class Io { done, ended, late };

class ChildProcess {
 public:
  // Starts argv[0] (a path) in a process group of its own, with no other open file than its channels and the descriptor `shared`, if it
  // is one, as its third; within `isolation`, whose outcome is then told. `unbound`: with kNotAsked in its environment. Of both kinds the
  // standard error comes here, and is shown line by line as what a runner printed. Throws std::runtime_error that names it.
  explicit ChildProcess(std::vector<std::string> argv, int shared = -1, const Isolation* isolation = nullptr,
                        bool unbound = false);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();  // ends the group

  // All of `bytes`. `ended`: the child takes no more.
  Io write(std::span<const std::byte> bytes, Deadline deadline);
  // Exactly `bytes`; `got` says how many came before it ended or was late.
  Io read(std::span<std::byte> bytes, Deadline deadline, std::size_t& got);

  pid_t pid() const { return pid_; }
  // For how long its first thread has been ready to run, so far, and had no core: that time is not held against it. 0 where the system does not
  // tell.
  std::chrono::nanoseconds kept_waiting() const;
  // Whether it has said something, or ended.
  bool stirs();
  // Stops all its threads, and returns when they stand; lets them go on. False: it has ended.
  bool stop() const;
  void go_on() const;

  // How it ended, in words: "died of SIGSEGV (signal 11)", "exited with status 3". Closes the channels and gives it a moment; one that
  // still lives "closed its output, but lives" and is killed.
  std::string ending();

  const Isolation::Outcome& outcome() const { return outcome_; }

 private:
  bool await(int file, short events, Deadline deadline);
  void show_printed();
  void show_line();
  void close_channels();
  void kill_group() const;

  pid_t pid_ = -1;
  int in_ = -1;       // to the child
  int out_ = -1;      // from it
  int printed_ = -1;  // what it prints; -1: that goes where ours does
  std::string line_;  // of that, unfinished
  std::size_t shown_ = 0;
  std::string ending_;
  Isolation::Outcome outcome_;
};

// "SIGSEGV"; "signal 42" where it has no name.
std::string signal_name(int signal);

}  // namespace assay
