#include "harness/interop/runner/timed_calls.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "harness/interop/runner/huge_pages.h"
#include "harness/interop/runner/signals.h"
#include "harness/verdict/discipline/kernel_run.h"
#include "harness/verdict/discipline/rules.h"

namespace assay {
namespace {

constexpr std::size_t kLine = 64;

std::byte* mapped(std::size_t bytes, int file) {
  std::byte* const memory = map_huge(bytes, file);
  if (memory == nullptr) throw wire::WireError("asks for " + std::to_string(bytes) + " bytes, which this machine lacks");
  return memory;
}

wire::Fault fault_of(wire::Phase phase, const CaughtFault& caught) {
  wire::Fault fault;
  fault.phase = phase;
  fault.signal = caught.signal;
  fault.address = reinterpret_cast<std::uintptr_t>(caught.address);
  fault.text = caught.text;
  return fault;
}

}  // namespace

TimedCalls::TimedCalls(const RunnableKernel& kernel, wire::TimedRequest request) : kernel_(kernel), request_(std::move(request)) {
  for (TimedTensor& one : request_.tensors) {
    patterns_.emplace_back(one.pattern.begin(), one.pattern.end());
    one.pattern = patterns_.back();
  }
  if (request_.part.blocks[0].size() != kernel.args_bytes) {
    throw wire::WireError("sent arguments of " + std::to_string(request_.part.blocks[0].size()) + " bytes; expected " +
                          std::to_string(kernel.args_bytes));
  }
  if (request_.packed != wire::kNone && kernel_.pack != nullptr) {
    const wire::Pointer& word = request_.part.pointers[request_.packed];
    if (word.to_block) throw wire::WireError("packs a pointer to a block");
    packed_tensor_ = word.target;
  }
  own_ = timed_offsets(request_.tensors, Keep::own);
  shared_ = timed_offsets(request_.tensors, Keep::shared);
  map_memory();
  slots_.resize(request_.slots);
  for (std::uint64_t slot = 0; slot < request_.slots; ++slot) bind(slot);
}

TimedCalls::~TimedCalls() {
  if (arena_ != nullptr) munmap(arena_, huge_pages(arena_bytes_));
  if (layouts_ != nullptr) munmap(layouts_, huge_pages(layouts_bytes_));
  if (descriptor_ != nullptr) munmap(descriptor_, huge_pages(descriptor_bytes_));
}

void TimedCalls::map_memory() {
  struct stat about {};
  descriptor_bytes_ = kControlBytes + request_.slots * shared_.back();
  if (fstat(kSharedDescriptor, &about) != 0 || static_cast<std::size_t>(about.st_size) < huge_pages(descriptor_bytes_))
    throw wire::WireError("shares no memory of " + std::to_string(descriptor_bytes_) +
                          " bytes: timed calls need a runner on the same machine");
  descriptor_ = mapped(descriptor_bytes_, kSharedDescriptor);
  control_ = reinterpret_cast<TimedControl*>(descriptor_);
  arena_bytes_ = request_.slots * own_.back();
  arena_ = mapped(arena_bytes_, -1);
}

std::byte* TimedCalls::tensor(std::uint64_t slot, std::size_t index) const {
  if (request_.tensors[index].keep == Keep::own) return arena_ + slot * own_.back() + own_[index];
  return descriptor_ + kControlBytes + slot * shared_.back() + shared_[index];
}

// Its arguments.
void TimedCalls::bind(std::uint64_t slot) {
  Slot& one = slots_[slot];
  one.blocks = request_.part.blocks;
  for (const wire::Pointer& word : request_.part.pointers) {
    const std::byte* target = word.to_block ? one.blocks[word.target].data() : tensor(slot, word.target);
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(target) + static_cast<std::uintptr_t>(word.addend);
    std::memcpy(one.blocks[word.block].data() + word.offset, &address, sizeof address);
  }
}

std::optional<wire::Fault> TimedCalls::ask_packed_bytes() {
  std::int64_t bytes = 0;
  const auto caught = run_foreign([&] { bytes = kernel_.packed_bytes(slots_[0].blocks[0].data()); }, Allowed::memory);
  if (caught) return fault_of(wire::Phase::packed_bytes, *caught);
  if (std::string wrong = no_layout(bytes); !wrong.empty())
    return wire::Fault{.phase = wire::Phase::packed_bytes, .text = std::move(wrong)};
  take_packed(bytes);
  return std::nullopt;
}

void TimedCalls::take_packed(std::int64_t bytes) {
  const std::size_t each = (static_cast<std::size_t>(bytes) + kLine - 1) / kLine * kLine + kLine;
  layouts_bytes_ = each * slots_.size();
  layouts_ = mapped(layouts_bytes_, -1);
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) slots_[slot].packed = layouts_ + slot * each;
}

std::optional<wire::Fault> TimedCalls::pack(Slot& slot) {
  const wire::Pointer& word = request_.part.pointers[request_.packed];
  int status = ASSAY_OK;
  const auto caught = run_foreign([&] { status = number_of(kernel_.pack(slot.blocks[0].data(), slot.packed)); }, Allowed::memory);
  if (caught) return fault_of(wire::Phase::pack, *caught);
  if (status != ASSAY_OK) return wire::Fault{.phase = wire::Phase::pack, .text = "refused its input"};
  const auto address = reinterpret_cast<std::uintptr_t>(slot.packed);
  std::memcpy(slot.blocks[word.block].data() + word.offset, &address, sizeof address);
  return std::nullopt;
}

// From here on they wait, but while the kernel runs: a handler could do its work ahead.
void TimedCalls::hold_signals() {
  const std::uint64_t before = set_mask(kAllButAlarm);
  if (!mask_) mask_ = before;
}

std::optional<wire::Fault> TimedCalls::fill(const wire::FillRequest& request) {
  if (request.seeds.size() > slots_.size()) throw wire::WireError("fills more slots than there are");
  hold_signals();
  const bool packs = packed_tensor_ != wire::kNone;
  if (packs && layouts_ == nullptr) {
    if (auto fault = ask_packed_bytes()) return fault;
  }
  for (std::size_t i = 0; i < request.seeds.size(); ++i) {
    const std::uint64_t slot = (request.first + i) % slots_.size();
    slots_[slot].seed = request.seeds[i];
    slots_[slot].poison = request.poison;
    if (packs && request.what != wire::FillRequest::others) {
      fill_one(slot, packed_tensor_);
      bind(slot);
      if (auto fault = pack(slots_[slot])) return fault;
    }
    if (request.what == wire::FillRequest::packed) continue;
    for (std::size_t t = 0; t < request_.tensors.size(); ++t) {
      if (t != packed_tensor_) fill_one(slot, t);
    }
    if (request.laps > 1) change(slot, 1, request.laps - 1);
  }
  return std::nullopt;
}

void TimedCalls::fill_one(std::uint64_t slot, std::size_t t) {
  const TimedTensor& about = request_.tensors[t];
  const std::uint64_t poison = about.pattern.empty() ? slots_[slot].poison : 0;
  fill_timed(about, tensor_seed(slots_[slot].seed, t) + poison, tensor(slot, t));
}

// With the signals that it had before anything was timed.
std::optional<CaughtFault> TimedCalls::run_foreign(const std::function<void()>& body, Allowed allowed) {
  auto caught = run_disciplined(
      [&] {
        set_mask(*mask_);
        body();
        set_mask(kAllButAlarm);
      },
      allowed);
  set_mask(kAllButAlarm);
  return caught;
}

// What has been packed stays. A word of each output is poisoned anew in each lap.
void TimedCalls::change(std::uint64_t slot, std::uint64_t first, std::uint64_t last) {
  const Slot& one = slots_[slot];
  for (std::size_t t = 0; t < request_.tensors.size(); ++t) {
    const TimedTensor& about = request_.tensors[t];
    const std::uint64_t seed = tensor_seed(one.seed, t);
    if (t != packed_tensor_) change_timed(about, seed, first, last, tensor(slot, t));
    if (!about.pattern.empty() || about.bytes < sizeof seed) continue;
    for (std::uint64_t lap = first; lap <= last; ++lap) {
      const std::uint64_t how = mixed(seed + one.poison + lap);
      std::memcpy(tensor(slot, t) + how % (about.bytes / sizeof how) * sizeof how, &how, sizeof how);
    }
  }
}

// Of what the slot's last call wrote.
std::uint64_t TimedCalls::digest(std::uint64_t slot) const {
  return digest_of_call(request_.tensors, slots_[slot].seed,
                        [&](std::size_t t) { return std::span<const std::byte>(tensor(slot, t), request_.tensors[t].bytes); });
}

// Until the host has read its clocks, and what was written.
void TimedCalls::rest() {
  std::atomic<std::uint32_t>& turn = control_->turn;
  turn = TimedControl::done;
  syscall(SYS_futex, &turn, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  while (turn == TimedControl::done) syscall(SYS_futex, &turn, FUTEX_WAIT, TimedControl::done, nullptr, nullptr, 0);
}

TimedCalls::End TimedCalls::run(const wire::TimeRequest& request) {
  if (request.count > slots_.size()) throw wire::WireError("times more calls than there are slots");
  hold_signals();
  static const HandlersKept handlers;
  End end;
  const auto caught = run_foreign(
      [&] {
        for (std::uint64_t lap = 0; lap < request.laps; ++lap) {
          std::uint64_t slot = request.first % slots_.size();
          std::uint64_t written = 0;
          for (std::uint64_t i = 0; i < request.count; ++i) {
            if (lap > 0) change(slot, lap, lap);
            const int status = request.dry ? ASSAY_OK : number_of(kernel_.run(slots_[slot].blocks[0].data()));
            if (status != ASSAY_OK) end.status = status;
            if (request.laps > 1) written += digest(slot);
            slot = slot + 1 < slots_.size() ? slot + 1 : 0;
          }
          control_->laps[lap] = written;
        }
      },
      Allowed::threads);
  rest();
  if (caught) end.fault = fault_of(wire::Phase::run, *caught);
  if (const std::string left = handlers.settle(); !left.empty() && !end.fault) end.fault = wire::Fault{.text = left};
  return end;
}

}  // namespace assay
