// A call as it arrives at the runner: its memories between guard pages, its arguments relocated, run, and what became of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/interop/runner/messages.h"
#include "harness/verdict/guard.h"
#include "kernels/abi.h"

namespace assay {

// What runs: one of our kernels, or a plugin's.
struct RunnableKernel {
  std::uint64_t args_bytes = 0;
  std::function<AssayStatus(const void*)> run;
  std::function<std::int64_t(const void*)> packed_bytes;  // empty: the op's own layout
  std::function<AssayStatus(const void*, void*)> pack;
};

// Either the reply of a call that ended, or its fault.
struct CallReply {
  std::optional<wire::Fault> fault;
  std::string done;  // an encoded wire::Done
};

// Throws wire::WireError where the request does not fit the kernel.
CallReply run_call(const RunnableKernel& kernel, const wire::CallRequest& request);

}  // namespace assay
