// One call of a kernel, ours or a stranger's, as both a process of its own and this one make it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "harness/verdict/discipline/faults.h"
#include "harness/verdict/discipline/rules.h"
#include "harness/verdict/discipline/stack.h"

namespace assay {

// How a call ended.
struct KernelEnd {
  int status = ASSAY_OK;             // as a number: what a foreign function returned need not be one of the enumerators
  std::optional<CaughtFault> fault;  // also of one that returned, and left something otherwise than it found it
  bool took_memory = false;
  bool started_threads = false;
};

// Of a call: the argument struct is its caller's.
inline constexpr char kArgumentsChanged[] = "changed its arguments";
// Likewise the arrays that it points to.
inline constexpr char kArrayTouched[] = "wrote to an array that its arguments point to, or touched what lies beside it";

// What is wrong with a status, in words; empty: it is an AssayStatus.
std::string no_status(int status);

// On this thread's KernelStack. What the call must leave as it found it (rules.h) is so afterwards.
KernelEnd run_kernel(KernelFunction kernel, const void* args, Allowed allowed = Allowed::nothing);

// Runs foreign code that is no kernel on the thread's own stack, held to the same rules.
std::optional<CaughtFault> run_disciplined(const std::function<void()>& body, Allowed allowed);

// Calls body(0) .. body(count - 1) on a thread each, this one among them, which begin together and are a Crowd. An exception
// of a thread's start is thrown once the others have ended.
void run_at_once(std::size_t count, const std::function<void(std::size_t)>& body);

// The same call many times, each from the same bytes in `written`, the memory that it may write to.
struct Repeated {
  KernelEnd end;  // of the last; what it took, of all of them
  // The first, from 1, that gave another status or other bytes than call 1; its bytes lie in memory. 0: none.
  std::int64_t odd_call = 0;
};
Repeated repeat_kernel(KernelFunction kernel, const void* args, Allowed allowed, std::span<const std::span<std::byte>> written,
                       std::int64_t times);

}  // namespace assay
