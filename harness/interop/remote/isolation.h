// What a runner that is started here may not do: docs/runner.md, "Isolation". Made ready by the host; entered by the child itself, between
// its fork and the program's start.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct sock_filter;

namespace assay {

// What the user asks for.
struct IsolationRequest {
  enum class Wish { automatic, required, none };
  Wish wish = Wish::automatic;
  bool allow_fork = false;            // new processes
  std::vector<std::string> readable;  // files and folders beside those that the program and its plugins need
};

// What is in force, and what is not, with the reason: each in words.
struct IsolationState {
  std::vector<std::string> in_force;
  std::vector<std::string> missing;
  // "seccomp, landlock, no root"; "seccomp; missing: landlock (this kernel has none)"; "none (--isolation none)".
  std::string to_string() const;
};

class Isolation {
 public:
  // Of a program and of the libraries that it will open: what they need can be read, besides what `request` names.
  Isolation(const std::string& program, const std::vector<std::string>& plugins, const IsolationRequest& request);
  Isolation(const Isolation&) = delete;
  Isolation& operator=(const Isolation&) = delete;
  ~Isolation();

  // What came of each part in a child.
  struct Outcome {
    int landlock = 0;  // 0: in force; else the errno
    int seccomp = 0;
    int root = 0;         // of giving root up
    int unreadable = -1;  // index of the file that nobody else than root can read; the child has ended
  };
  // In the child: nothing but system calls, since its memory may be its parent's. Goes on where a part fails.
  Outcome enter() const noexcept;
  // For the next child: it stays root, without a capability.
  void keep_root(const Outcome& outcome);
  IsolationState state(const Outcome& outcome) const;

 private:
  void let_read(const std::string& path, bool write = false) const;
  int restrict_files() const noexcept;

  std::vector<std::string> needed_;  // must be readable for a user without rights: the program, its plugins
  int ruleset_ = -1;                 // Landlock's; -1: this kernel has none
  std::vector<sock_filter> filter_;
  bool root_ = false;      // the host is root
  std::string root_kept_;  // why; empty: it is given up
};

}  // namespace assay
