// The thread that runs what is foreign. It and the threads that it starts cannot change what is mapped in the arena, handle faults or
// reach the channels (tighten.h), for good; the thread that owns this one can, and does it for it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "harness/interop/runner/tighten.h"
#include "harness/verdict/guard.h"

namespace assay {

inline constexpr char kNotAsked[] = "ASSAY_RUNNER_UNBOUND";  // in a runner's environment: it is to give nothing up

class ForeignThread {
 public:
  // Blocks every signal but SIGALRM in the calling thread, where no foreign handler is to run. `in`, `out`: the channels. `bound`: that
  // anything is given up.
  ForeignThread(int in, int out, bool bound);
  ForeignThread(const ForeignThread&) = delete;
  ForeignThread& operator=(const ForeignThread&) = delete;
  ~ForeignThread();

  // Why nothing is given up, in words; empty: it is.
  const std::string& unbound() const { return unbound_; }

  // Runs it there and waits for it. Throws std::runtime_error with the words of what it threw: a foreign exception is foreign code. The
  // memory that it was given ends with it.
  void run(const std::function<void()>& body);

  // For what runs there: memory in the arena, mapped by the thread that waits. Throws std::bad_alloc.
  const GuardedMemory& memory(std::size_t bytes);

 private:
  void serve(int in, int out, bool bound);
  void provide();

  std::string unbound_;
  std::uint64_t mask_ = 0;  // of signals, as it was
  Arena arena_;
  std::mutex mutex_;
  std::condition_variable owner_;
  std::condition_variable foreign_;
  const std::function<void()>* body_ = nullptr;
  std::optional<std::string> thrown_;
  bool ready_ = false;
  bool ends_ = false;
  std::mutex asking_;  // one thread at a time
  std::size_t wanted_ = 0;
  bool provided_ = false;
  const GuardedMemory* given_ = nullptr;
  std::deque<GuardedMemory> memories_;
  std::thread thread_;
};

}  // namespace assay
