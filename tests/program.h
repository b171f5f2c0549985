// The program that ASSAY_PROGRAM names, as a process of its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace assay {

struct Ran {
  int status = -1;  // what it exited with; 128 + the signal that ended it
  std::string out;
  std::string err;
  std::int64_t peak_bytes = 0;  // the most that was resident
};

// How it is started, where not plainly.
struct Launch {
  std::vector<std::string> through;  // a command that starts the one it is given, such as prlimit --as=N
  std::string out;                   // a file to be standard output
};

class Program {
 public:
  // Neither ASSAY_ISA nor ASSAY_CHECKS is passed on; `environment`: "NAME=value" more.
  explicit Program(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {},
                   const Launch& launch = {});
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  // Returns when it has written these words, or anything, to standard output, or ended.
  void await_output(const std::string& words = "");
  // Returns when it handles the signal itself, or has ended.
  void await_handler(int signal) const;
  void send(int signal) const;
  Ran wait();  // once

 private:
  bool read_some();  // false at the end of both

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  Ran ran_;
};

Ran run_assay(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {},
              const Launch& launch = {});

}  // namespace assay
