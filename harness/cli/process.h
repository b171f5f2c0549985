// What is the program's as a process: its streams, its signals, its exit status.
#pragma once

#include <functional>

namespace assay::cli {

// Runs the program's body and returns what it exits with: the body's status, or 2 and a line on standard error where it throws, memory
// ends, standard output cannot be written, or a library ends the process (no verdict has its 1 then). A file that may not grow is an
// error like a full disk; a model file that is cut short while it is in use is named (engine/files/lost_pages.h).
int run_process(const std::function<int()>& body);

// SIGINT, SIGTERM and SIGHUP end the process as ever, but first remove what it has begun to write.
void leave_nothing_when_interrupted();

// While it lives the first of these signals is noted, for a command that ends by saying what it knows; a second one ends the process.
class NotedInterrupt {
 public:
  NotedInterrupt();
  NotedInterrupt(const NotedInterrupt&) = delete;
  NotedInterrupt& operator=(const NotedInterrupt&) = delete;
  ~NotedInterrupt();
  static int signal();  // 0: none has come
};

}  // namespace assay::cli
