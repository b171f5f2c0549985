#include "harness/interop/runner/placed_call.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "harness/verdict/discipline/kernel_run.h"
#include "harness/verdict/discipline/rules.h"

namespace assay {
namespace {

constexpr std::size_t kPackedAlignment = 64;
constexpr std::uint8_t kPoison = 0xff;
constexpr std::size_t kMostThreads = 1024;

class PlacedCall {
 public:
  PlacedCall(const RunnableKernel& kernel, const wire::CallRequest& request, Foreign& foreign)
      : kernel_(kernel), request_(request), foreign_(foreign) {
    for (const auto& bytes : request.memories) {
      GuardedMemory& memory = memory_.emplace_back(bytes.empty() ? 0 : bytes.size() - 1);  // which rounds up to whole pages
      if (static_cast<std::size_t>(memory.end() - memory.begin()) != std::max<std::size_t>(bytes.size(), guard_page_bytes())) {
        throw wire::WireError("sent a memory of " + std::to_string(bytes.size()) + " bytes; expected whole pages of " +
                              std::to_string(guard_page_bytes()));
      }
      std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(memory.begin()));
    }
    for (const wire::PartImage& part : request.parts) {
      if (part.blocks[0].size() != kernel.args_bytes) {
        throw wire::WireError("sent arguments of " + std::to_string(part.blocks[0].size()) + " bytes; expected " +
                              std::to_string(kernel.args_bytes));
      }
    }
    if (request.at_once && request.parts.size() > kMostThreads) {
      throw wire::WireError("sent " + std::to_string(request.parts.size()) + " parts to run at once; expected at most " +
                            std::to_string(kMostThreads));
    }
    // Here, since only the keeper may map memory.
    for (const wire::PartImage& part : request.parts) parts_.push_back(relocated(part));
    statuses_.resize(request.parts.size());
  }

  CallReply run() {
    static const HandlersKept handlers;  // where a call has put others, its process ends
    foreign_.run([this] { run_parts(); });
    if (const std::string left = handlers.settle(); !left.empty()) record({.text = left});
    CallReply reply;
    reply.fault = fault_;
    if (!fault_) reply.done = done();
    return reply;
  }

 private:
  // The arguments of one part, with its own copy of the blocks.
  struct Part {
    std::vector<std::vector<std::byte>> blocks;
    const GuardedMemory* packed = nullptr;
    std::uint8_t* packed_base = nullptr;
    std::int64_t packed_bytes = 0;
    wire::Phase phase = wire::Phase::run;
    const void* args() const { return blocks[0].data(); }
  };

  Part relocated(const wire::PartImage& image) {
    Part part;
    part.blocks = image.blocks;
    const auto point = [&](const wire::Pointer& one, const void* target) {
      const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(target) + static_cast<std::uintptr_t>(one.addend);
      std::memcpy(part.blocks[one.block].data() + one.offset, &address, sizeof address);
    };
    for (const wire::Pointer& one : image.pointers) {
      if (!one.to_block) point(one, seen(one.target));
    }
    for (const wire::Pointer& one : image.pointers) {
      if (one.to_block) point(one, arrays_.add(part.blocks[one.target]));
    }
    return part;
  }

  // The start of a memory as the kernel sees it.
  const std::uint8_t* seen(std::size_t m) const {
    return request_.read_only[m] ? memory_[m].read_only(memory_[m].begin()) : memory_[m].begin();
  }

  void run_parts() {
    if (request_.at_once && request_.parts.size() > 1) {
      run_at_once(request_.parts.size(), [this](std::size_t part) { run_part(part); });
    } else {
      for (std::size_t part = 0; part < request_.parts.size() && !fault_; ++part) run_part(part);
    }
  }

  void run_part(std::size_t index) {
    const wire::PartImage& image = request_.parts[index];
    Part& part = parts_[index];
    int status = ASSAY_OK;
    std::optional<CaughtFault> caught;
    std::string wrong;
    if (request_.packed != wire::kNone && kernel_.pack != nullptr) {
      part.phase = wire::Phase::packed_bytes;
      caught = run_disciplined([&] { part.packed_bytes = kernel_.packed_bytes(part.args()); }, packing());
      if (!caught) wrong = pack(part, image.pointers[request_.packed], status, caught);
      if (!caught && wrong.empty()) wrong = no_status(status);
    }
    if (!caught && wrong.empty() && status == ASSAY_OK) {
      part.phase = wire::Phase::run;
      const auto given = part.blocks;
      const KernelEnd end = run_kernel(part);
      status = end.status;
      caught = end.fault;
      took_memory_ = took_memory_ || end.took_memory;
      started_threads_ = started_threads_ || end.started_threads;
      if (!caught && part.blocks != given) wrong = kArgumentsChanged;
    }
    if (caught) return record(describe(*caught, part));
    if (!wrong.empty()) return record({.phase = part.phase, .text = wrong});
    statuses_[index] = status;
  }

  // To pack takes memory as it likes.
  Allowed packing() const { return std::max(kernel_.allowed, Allowed::memory); }

  KernelEnd run_kernel(const Part& part) {
    if (request_.times == 1) return assay::run_kernel(kernel_.run, part.args(), kernel_.allowed);
    std::vector<std::span<std::byte>> written;
    for (std::size_t m = 0; m < memory_.size(); ++m) {
      if (!request_.read_only[m]) written.push_back(std::as_writable_bytes(std::span(memory_[m].begin(), memory_[m].end())));
    }
    const Repeated repeated =
        repeat_kernel(kernel_.run, part.args(), kernel_.allowed, written, static_cast<std::int64_t>(request_.times));
    odd_call_ = static_cast<std::uint64_t>(repeated.odd_call);
    return repeated.end;
  }

  // Lays the kernel's own layout against the rear guard page. What is wrong, in words; empty: nothing.
  std::string pack(Part& part, const wire::Pointer& word, int& status, std::optional<CaughtFault>& caught) {
    if (std::string wrong = no_layout(part.packed_bytes); !wrong.empty()) return wrong;
    part.phase = wire::Phase::pack;
    part.packed = &foreign_.memory(static_cast<std::size_t>(part.packed_bytes));
    part.packed_base = part.packed->end() - part.packed_bytes;
    part.packed_base -= reinterpret_cast<std::uintptr_t>(part.packed_base) % kPackedAlignment;
    std::memset(part.packed->begin(), kPoison, static_cast<std::size_t>(part.packed->end() - part.packed->begin()));
    caught = run_disciplined([&] { status = number_of(kernel_.pack(part.args(), part.packed_base)); }, packing());
    if (caught) return {};
    const auto untouched = [](const std::uint8_t* begin, const std::uint8_t* end) {
      return std::all_of(begin, end, [](std::uint8_t byte) { return byte == kPoison; });
    };
    if (!untouched(part.packed_base + part.packed_bytes, part.packed->end())) return "wrote past the end of its own layout";
    if (!untouched(part.packed->begin(), part.packed_base)) return "wrote before the start of its own layout";
    const auto address = reinterpret_cast<std::uintptr_t>(part.packed_base);
    std::memcpy(part.blocks[word.block].data() + word.offset, &address, sizeof address);
    return {};
  }

  wire::Fault describe(const CaughtFault& caught, const Part& part) const {
    wire::Fault fault;
    fault.phase = part.phase;
    fault.signal = caught.signal;
    fault.text = caught.text;
    fault.address = reinterpret_cast<std::uintptr_t>(caught.address);
    if (caught.address == nullptr) return fault;
    const auto* address = static_cast<const std::uint8_t*>(caught.address);
    if (arrays_.owns(address)) fault.text = kArrayTouched;
    if (part.packed != nullptr && part.packed->owns(address)) {
      fault.where = wire::Where::packed;
      fault.offset = address - part.packed_base;
      fault.packed_bytes = static_cast<std::uint64_t>(part.packed_bytes);
    }
    for (std::size_t m = 0; m < memory_.size(); ++m) {
      if (!memory_[m].owns(address)) continue;
      fault.where = wire::Where::memory;
      fault.index = static_cast<std::uint32_t>(m);
      fault.offset = memory_[m].writable(address) - memory_[m].begin();
    }
    return fault;
  }

  void record(wire::Fault fault) {
    const std::lock_guard lock(mutex_);
    if (!fault_) fault_ = std::move(fault);
  }

  std::string done() const {
    wire::Done done;
    done.odd_call = odd_call_;
    done.took_memory = took_memory_;
    done.started_threads = started_threads_;
    done.statuses = statuses_;
    for (std::size_t m = 0; m < memory_.size(); ++m) {
      const auto now = std::as_bytes(std::span(memory_[m].begin(), request_.memories[m].size()));
      const bool same = std::equal(now.begin(), now.end(), request_.memories[m].begin());
      done.memories.push_back(same ? std::nullopt : std::optional(now));
    }
    return wire::encode(done);
  }

  const RunnableKernel& kernel_;
  const wire::CallRequest& request_;
  Foreign& foreign_;
  std::vector<GuardedMemory> memory_;
  std::vector<Part> parts_;
  GuardedCopies arrays_;  // of all parts' blocks after the first, as the kernel sees them
  std::vector<std::int32_t> statuses_;
  std::uint64_t odd_call_ = 0;
  std::atomic<bool> took_memory_{false};
  std::atomic<bool> started_threads_{false};
  std::mutex mutex_;
  std::optional<wire::Fault> fault_;
};

}  // namespace

int number_of(AssayStatus status) {
  static_assert(sizeof(AssayStatus) == sizeof(int));
  int number = 0;
  std::memcpy(&number, &status, sizeof number);
  return number;
}

std::string no_layout(std::int64_t bytes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  if (bytes >= 0 && bytes <= kMost) return {};
  return "asks for " + std::to_string(bytes) + " bytes; expected 0 to " + std::to_string(kMost);
}

CallReply run_call(const RunnableKernel& kernel, const wire::CallRequest& request, Foreign& foreign) {
  return PlacedCall(kernel, request, foreign).run();
}

}  // namespace assay
