// Who runs a placed call: this process, or a runner that gets its memory sent.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/verdict/discipline/kernel_run.h"
#include "harness/verdict/discipline/rules.h"
#include "reference/ops/split.h"

namespace assay {

class Call;

struct MemoryFault {
  int signal = 0;
  const void* address = nullptr;  // SIGSEGV and SIGBUS: what was touched
};

// How a call ended. At most one of fault and failure says that it did not, or not as a call must.
struct Execution {
  AssayStatus status = ASSAY_OK;     // of several parts the last that is not ASSAY_OK
  std::optional<MemoryFault> fault;  // its address is one of this process, in the call's memory
  std::string failure;               // what else befell it: "threw std::bad_alloc", "left the tiles configured"
  bool late = false;                 // that is, it took longer than it may
  bool placed = true;                // the kernel saw the tensors where they lie; false: copies of them
  bool took_memory = false;          // in a runner
  bool started_threads = false;      // likewise
  std::int64_t odd_call = 0;  // of many: the first, from 1, that differs from the first, and whose outputs are there; 0: none
};

// How the parts of a call are run.
struct Manner {
  bool at_once = false;    // on a thread each, which begin together; else one after the other
  bool fresh = false;      // in a process that has not called the kernel before
  std::int64_t times = 1;  // a call of one part: so many times, each from the same memory
};

class Executor {
 public:
  virtual ~Executor() = default;
  // Runs the parts on the call's memory.
  virtual Execution run(const Call& call, std::span<const CallPart> parts, const Manner& manner) = 0;
  // The kernel, where it is one of this process; else null.
  virtual KernelFunction function() const { return nullptr; }
  // What the calls since the last settle() left behind, in words; empty: nothing. It is put right.
  virtual std::string settle() { return {}; }
};

// A kernel in this process.
class InProcess final : public Executor {
 public:
  explicit InProcess(KernelFunction kernel) : kernel_(kernel) {}
  Execution run(const Call& call, std::span<const CallPart> parts, const Manner& manner) override;
  KernelFunction function() const override { return kernel_; }
  std::string settle() override;

 private:
  KernelFunction kernel_;
  std::optional<HandlersKept> handlers_;  // before the first call
};

}  // namespace assay
