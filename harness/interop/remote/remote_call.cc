// Calls by a runner: what goes there, what comes back, and what befell it.
#include <fmt/format.h>

#include <algorithm>

#include "harness/interop/remote/remote_runner.h"
#include "harness/interop/remote/trouble.h"
#include "harness/verdict/call.h"
#include "harness/verdict/call_image.h"

namespace assay {
namespace {

constexpr int kMostFailedStarts = 3;
constexpr int kMostLate = 3;

}  // namespace

Execution RemoteRunner::run(const RemoteKernel& kernel, const Call& call, std::span<const CallPart> parts, const Manner& manner) {
  if (manner.fresh) child_.reset();
  wire::CallRequest request;
  request.kernel = kernel.number;
  request.limit_ms = static_cast<std::uint64_t>(options_.limit.count());
  request.at_once = manner.at_once;
  request.times = static_cast<std::uint64_t>(manner.times);
  std::uint64_t most = kMostText;
  for (std::size_t m = 0; m < call.memory().size(); ++m) {
    const GuardedMemory& memory = call.memory()[m];
    request.memories.push_back(std::as_bytes(std::span(memory.begin(), memory.end())));
    request.read_only.push_back(!call.writable(m));
    most += request.memories.back().size();
  }
  for (const CallPart& part : parts) {
    CallImage image = call_image(call.op(), part, call.memory());
    for (std::size_t p = 0; p < image.tensors.size(); ++p) {
      const std::size_t tensor = image.tensors[p];
      const bool refused = !part.instead.empty() && part.pointers[tensor] == call.memory()[tensor].end();
      if (!refused && call.spec_of(tensor).name == kernel.packed_tensor) request.packed = static_cast<std::uint32_t>(p);
    }
    request.parts.push_back(std::move(image.part));
  }
  Execution result;
  try {
    if (failed_starts_ >= kMostFailedStarts) throw Trouble("cannot be started any more");
    if (!child_) {
      ++failed_starts_;
      start();
      failed_starts_ = 0;
    }
    const Answer answer = ask(wire::Kind::call, encode(request), most);
    result = bring_back(call, answer, parts.size(), kernel.packed_tensor);
  } catch (const RunnerError& error) {
    result.failure = error.what();
  } catch (const Late& late) {
    result.failure = std::string("the runner ") + late.what();
    result.late = true;
  } catch (const std::runtime_error& trouble) {
    result.failure = std::string("the runner ") + trouble.what();
  }
  if (result.fault || !result.failure.empty()) child_.reset();
  return result;
}

Execution RemoteRunner::bring_back(const Call& call, const Answer& answer, std::size_t parts, const std::string& packed_tensor) {
  Execution result;
  const auto memory = call.memory();
  if (answer.kind == wire::Kind::done) {
    std::vector<std::uint64_t> sizes;
    for (const GuardedMemory& one : memory) sizes.push_back(static_cast<std::uint64_t>(one.end() - one.begin()));
    const wire::Done done = wire::decode_done(answer.payload, sizes, parts);
    result.odd_call = static_cast<std::int64_t>(done.odd_call);
    result.took_memory = done.took_memory;
    result.started_threads = done.started_threads;
    for (const std::int32_t status : done.statuses) {
      if (status != ASSAY_OK) result.status = static_cast<AssayStatus>(status);
    }
    for (std::size_t m = 0; m < memory.size(); ++m) {
      const auto& changed = done.memories[m];
      if (changed) std::copy(changed->begin(), changed->end(), reinterpret_cast<std::byte*>(memory[m].begin()));
    }
    return result;
  }
  if (answer.kind != wire::Kind::fault) {
    throw Trouble(answer.kind == wire::Kind::refused ? "refused the call: the host " + text_of(answer.payload)
                                                     : "was sent a call and answered something else");
  }
  const wire::Fault fault = wire::decode_fault(answer.payload, memory.size());
  static constexpr const char* kPhases[] = {"packed_bytes: ", "pack: ", ""};
  const std::string phase = kPhases[static_cast<std::size_t>(fault.phase)];
  const std::int64_t past = fault.offset - static_cast<std::int64_t>(fault.packed_bytes);
  if (!fault.text.empty()) {
    result.failure = phase + fault.text;
  } else if (fault.where == wire::Where::packed) {
    result.failure = phase +
                     (fault.offset < 0 ? fmt::format("touched {} bytes before the start of", -fault.offset)
                                       : fmt::format("touched {} bytes past the end of", past + 1)) +
                     " its own layout of " + packed_tensor + " (guard page)";
  } else if (fault.where == wire::Where::nowhere && !phase.empty()) {
    result.failure = phase + "raised " + signal_name(fault.signal);
  } else {
    const bool in_memory = fault.where == wire::Where::memory;
    // Of the runner's own memory: a number to show.
    const void* elsewhere =
        reinterpret_cast<const void*>(static_cast<std::uintptr_t>(fault.address));  // NOLINT(performance-no-int-to-ptr)
    result.fault = MemoryFault{fault.signal, in_memory ? memory[fault.index].begin() + fault.offset : elsewhere};
  }
  return result;
}

Execution RemoteExecutor::run(const Call& call, std::span<const CallPart> parts, const Manner& manner) {
  if (late_ == kMostLate) {
    Execution refused;
    refused.failure = fmt::format("was not called: {} calls before gave no answer within {} (--time-limit)", kMostLate,
                                  seconds(runner_.options().limit));
    return refused;
  }
  Execution result = runner_.run(kernel_, call, parts, manner);
  late_ = result.late ? late_ + 1 : 0;
  if (result.took_memory) record_->seen.insert(kAllocates);
  if (result.started_threads) record_->seen.insert(kThreads);
  return result;
}

}  // namespace assay
