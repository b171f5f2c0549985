// Calls whose time the host takes: laid out in slots of memory, filled with fresh data, run one after the other between two turns of the
// control word that both share. This process keeps no clock.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "harness/interop/runner/messages.h"
#include "harness/interop/runner/placed_call.h"
#include "harness/verdict/discipline/kernel_run.h"

namespace assay {

class TimedCalls {
 public:
  // Takes the memory. Throws wire::WireError where the request fits neither the kernel nor the shared memory, or memory lacks.
  TimedCalls(const RunnableKernel& kernel, wire::TimedRequest request);
  TimedCalls(const TimedCalls&) = delete;
  TimedCalls& operator=(const TimedCalls&) = delete;
  ~TimedCalls();

  // What befell the kernel while it packed; nullopt: nothing.
  std::optional<wire::Fault> fill(const wire::FillRequest& request);

  struct End {
    int status = ASSAY_OK;  // the last that is not ASSAY_OK
    std::optional<wire::Fault> fault;
  };
  // Runs, says that it is done, and waits until the host has seen it.
  End run(const wire::TimeRequest& request);

  std::uint64_t limit_ms() const { return request_.limit_ms; }
  std::uint64_t filling_ms(const wire::FillRequest& request) const {
    return assay::filling_ms(request_.tensors, request.seeds.size());
  }

 private:
  struct Slot {
    std::vector<std::vector<std::byte>> blocks;
    std::byte* packed = nullptr;
    std::uint64_t seed = 0;
    std::uint64_t poison = 0;
  };
  std::byte* tensor(std::uint64_t slot, std::size_t index) const;
  void map_memory();
  void bind(std::uint64_t slot);
  void rest();
  void change(std::uint64_t slot, std::uint64_t first, std::uint64_t last);
  std::uint64_t digest(std::uint64_t slot) const;
  void take_packed(std::int64_t bytes);
  void hold_signals();
  void fill_one(std::uint64_t slot, std::size_t tensor);
  std::optional<CaughtFault> run_foreign(const std::function<void()>& body, Allowed allowed);
  std::optional<wire::Fault> ask_packed_bytes();
  std::optional<wire::Fault> pack(Slot& slot);

  RunnableKernel kernel_;
  wire::TimedRequest request_;
  std::vector<std::vector<std::byte>> patterns_;
  std::vector<std::uint64_t> own_, shared_;  // timed_offsets
  std::size_t packed_tensor_ = wire::kNone;
  std::byte* arena_ = nullptr;  // of the slots
  std::size_t arena_bytes_ = 0;
  std::byte* layouts_ = nullptr;  // the kernel's own
  std::size_t layouts_bytes_ = 0;
  std::byte* descriptor_ = nullptr;
  std::size_t descriptor_bytes_ = 0;
  TimedControl* control_ = nullptr;
  std::vector<Slot> slots_;
  std::optional<std::uint64_t> mask_;  // the first thread's signals, before anything was filled
};

}  // namespace assay
