// Where a kernel runs: a small stack of its own between guard pages, filled with NaNs, and registers that hold what it must give back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/plugin/assay_plugin.h"
#include "harness/verdict/guard.h"

namespace assay {

using KernelFunction = AssayStatus (*)(const void* args);

inline constexpr std::size_t kKernelStackBytes = ASSAY_STACK_BYTES;

class KernelStack {
 public:
  // This thread's. Its signal handlers have a stack too from then on.
  static KernelStack& of_this_thread();

  KernelStack();
  KernelStack(const KernelStack&) = delete;
  KernelStack& operator=(const KernelStack&) = delete;
  ~KernelStack();

  // As no call has left it. A call does it by itself; done before, callers that begin together begin together.
  void refill();
  // Those that no thread has now. After a fork each page that is written is copied, and all threads wait for that; where there is one, none.
  static void refill_idle();
  // Calls it. An exception passes through; so does a jump. Returns what it returned, as a number.
  int call(KernelFunction kernel, const void* args);

  // What the last call that returned broke of the calling convention: registers, the caller's frame; empty: nothing.
  std::string broken() const;
  // The address lies in what a frame that is too large reaches.
  bool overrun_by(const void* address) const;

 private:
  friend class LeasedStack;
  std::uint8_t* end() const { return begin_ + kKernelStackBytes; }

  static constexpr std::size_t kCalleeSaved = 20;  // at most, of any architecture
  // The entry's own, in stack.cc: it reads and writes these by their offsets.
  struct Frame {
    void* caller = nullptr;
    void* top = nullptr;
    std::uint64_t flags = 0;
    std::uint64_t unused = 0;
    std::array<std::uint64_t, kCalleeSaved> given{};
    std::array<std::uint64_t, kCalleeSaved> found{};
  };

  Frame frame_;
  std::uint8_t* reserved_ = nullptr;
  std::uint8_t* begin_ = nullptr;
  std::uint8_t* handlers_ = nullptr;
  std::array<std::uint8_t, 4096> pattern_{};  // of each such piece of the stack
  bool unfinished_ = true;                    // the last call left by an exception or a jump; or there was none
};

}  // namespace assay
