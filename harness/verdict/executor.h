// Who runs a placed call: this process, or a runner that gets its memory sent.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/verdict/guard.h"
#include "reference/ops/split.h"

namespace assay {

class Call;

// How a call ended. At most one of fault and failure says that it did not.
struct Execution {
  AssayStatus status = ASSAY_OK;     // of several parts the last that is not ASSAY_OK
  std::optional<MemoryFault> fault;  // its address is one of this process, in the call's memory
  std::string failure;               // what else befell it: "threw std::bad_alloc", "left the tiles configured"
  bool late = false;                 // that is, it took longer than it may
};

class Executor {
 public:
  virtual ~Executor() = default;
  // Runs the parts on the call's memory: on threads of their own, or one after the other.
  virtual Execution run(const Call& call, std::span<const CallPart> parts, bool at_once) = 0;
};

// A kernel in this process. Parts that run at once are not guarded: a fault ends the process.
class InProcess final : public Executor {
 public:
  explicit InProcess(AssayStatus (*kernel)(const void* args)) : kernel_(kernel) {}
  Execution run(const Call& call, std::span<const CallPart> parts, bool at_once) override;

 private:
  AssayStatus (*kernel_)(const void* args);
};

}  // namespace assay
