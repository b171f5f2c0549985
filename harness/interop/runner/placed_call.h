// A call as it arrives at the runner: its memories between guard pages, its arguments relocated, run, and what became of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/interop/runner/foreign.h"
#include "harness/interop/runner/messages.h"
#include "harness/verdict/discipline/rules.h"
#include "harness/verdict/discipline/stack.h"
#include "harness/verdict/guard.h"
#include "kernels/abi.h"

namespace assay {

// What runs: one of our kernels, or a plugin's.
struct RunnableKernel {
  std::uint64_t args_bytes = 0;
  KernelFunction run = nullptr;
  std::int64_t (*packed_bytes)(const void* args) = nullptr;  // null: the op's own layout
  AssayStatus (*pack)(const void* args, void* packed) = nullptr;
  Allowed allowed = Allowed::nothing;
};

// What a foreign function returned, which need not be one of the enumerators: as a number, since no other value may be read as one.
int number_of(AssayStatus status);
// What is wrong with a layout's size, in words; empty: nothing.
std::string no_layout(std::int64_t bytes);

// Either the reply of a call that ended, or its fault.
struct CallReply {
  std::optional<wire::Fault> fault;
  std::string done;  // an encoded wire::Done
};

// Throws wire::WireError where the request does not fit the kernel, which runs where the foreign does.
CallReply run_call(const RunnableKernel& kernel, const wire::CallRequest& request, Foreign& foreign);

}  // namespace assay
