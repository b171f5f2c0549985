#include "harness/verdict/executor.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "harness/verdict/call.h"
#include "harness/verdict/discipline/stack.h"

namespace assay {
namespace {

constexpr unsigned kSeconds = 60;  // of a fresh process: a race may end in a wait for what never comes

void add(Execution& result, const KernelEnd& end) {
  if (end.status != ASSAY_OK) result.status = static_cast<AssayStatus>(end.status);
  if (!end.fault || result.fault || !result.failure.empty()) return;
  result.status = ASSAY_OK;
  if (!end.fault->text.empty()) {
    result.failure = end.fault->text;
  } else {
    result.fault = MemoryFault{end.fault->signal, end.fault->address};
  }
}

// What a call may write to: the memories of its outputs, and of the inputs that they lie on.
std::vector<std::span<std::byte>> written_memory(const Call& call) {
  std::vector<std::span<std::byte>> written;
  for (std::size_t t = 0; t < call.memory().size(); ++t) {
    if (call.writable(t)) written.push_back(std::as_writable_bytes(std::span(call.memory()[t].begin(), call.memory()[t].end())));
  }
  return written;
}

bool overwrites_inputs(const Call& call) {
  for (std::size_t t = 0; t < call.inputs().size(); ++t) {
    if (call.writable(t)) return true;
  }
  return false;
}

Execution run_here(KernelFunction kernel, const Call& call, std::span<const Arguments> parts, const Manner& manner) {
  Execution result;
  if (manner.times > 1) {
    const Repeated repeated = repeat_kernel(kernel, parts[0].data(), Allowed::nothing, written_memory(call), manner.times);
    add(result, repeated.end);
    result.odd_call = repeated.odd_call;
    return result;
  }
  std::vector<KernelEnd> ends(parts.size());
  const auto one = [&](std::size_t part) { ends[part] = run_kernel(kernel, parts[part].data()); };
  if (manner.at_once && parts.size() > 1) {
    // What a thread keeps of its first call shows in its second, which hides what the first wrote: not where it is the process's first. Of
    // two, as of every cut, there would be many.
    const bool again = parts.size() > 2 && !manner.fresh && !overwrites_inputs(call);
    run_at_once(parts.size(), [&](std::size_t part) {
      one(part);
      if (again && !ends[part].fault) one(part);
    });
  } else {
    for (std::size_t part = 0; part < parts.size(); ++part) one(part);
  }
  for (const KernelEnd& end : ends) add(result, end);
  return result;
}

// The argument structs of some calls and the arrays that they point to.
std::vector<std::byte> bytes_of(std::span<const Arguments> all) {
  std::vector<std::byte> bytes;
  for (const Arguments& one : all) {
    const auto* const begin = static_cast<const std::byte*>(one.data());
    bytes.insert(bytes.end(), begin, begin + one.size());
    for (const NestedArray& array : one.arrays()) bytes.insert(bytes.end(), array.bytes.begin(), array.bytes.end());
  }
  return bytes;
}

// An Execution where two processes see it.
struct SharedState {
  int status;
  MemoryFault fault;
  std::int64_t odd_call;
  char failure[1024];
};

// In a child, whose calls write to the same memory. It has one thread, whatever this process has.
template <class Run>
Execution run_in_child(const Run& run) {
  const GuardedMemory memory(sizeof(SharedState));
  auto* const shared = new (memory.begin()) SharedState{};
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(kSeconds);
    KernelStack::refill_idle();
    const Execution result = run();
    *shared = {result.status, result.fault.value_or(MemoryFault{}), result.odd_call, {}};
    result.failure.copy(shared->failure, sizeof shared->failure - 1);
    _exit(0);
  }
  Execution result;
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    result.failure = "could not be called in a process of its own";
  } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    result.failure = fmt::format("was still running after {} s", kSeconds);
  } else if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0) {
    result.failure = WIFSIGNALED(status) ? fmt::format("ended its process by signal {}", WTERMSIG(status))
                                         : fmt::format("ended its process with status {}", WEXITSTATUS(status));
  } else {
    result.status = static_cast<AssayStatus>(shared->status);
    if (shared->fault.signal != 0) result.fault = shared->fault;
    result.failure = shared->failure;
    result.odd_call = shared->odd_call;
  }
  return result;
}

}  // namespace

Execution InProcess::run(const Call& call, std::span<const CallPart> parts, const Manner& manner) {
  if (!handlers_) handlers_.emplace();
  std::vector<Arguments> all;
  all.reserve(parts.size());
  static thread_local GuardedCopies arrays;  // mapped once: a call may take less than that
  arrays.drop();
  for (const CallPart& part : parts) {
    Arguments& args = all.emplace_back(call.op(), part.params, part.pointers, part.instead);
    for (std::size_t i = 0; i < args.arrays().size(); ++i) args.link(i, arrays.add(args.arrays()[i].bytes));
  }
  const auto run = [&] {
    const std::vector<std::byte> given = bytes_of(all);
    Execution result = run_here(kernel_, call, all, manner);
    if (!result.fault && result.failure.empty() && bytes_of(all) != given) result.failure = kArgumentsChanged;
    if (result.fault && arrays.owns(result.fault->address)) {
      result.fault.reset();
      result.failure = kArrayTouched;
    }
    return result;
  };
  return manner.fresh ? run_in_child(run) : run();
}

std::string InProcess::settle() {
  return handlers_ ? handlers_->settle() : "";
}

}  // namespace assay
