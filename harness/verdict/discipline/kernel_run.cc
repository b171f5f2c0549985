#include "harness/verdict/discipline/kernel_run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "harness/verdict/discipline/allocations.h"
#include "harness/verdict/discipline/crowd.h"
#include "harness/verdict/discipline/rules.h"
#include "harness/verdict/discipline/threads.h"

namespace assay {
namespace {

constexpr int kTurns = 50;  // in which a thread waits awake, so that all begin at once; on a busy machine it then sleeps
constexpr std::int64_t kLookEvery = 256;  // calls: before a process has no descriptors left

// Every byte of some memory, one piece after the other.
std::vector<std::byte> copy_of(std::span<const std::span<std::byte>> pieces) {
  std::vector<std::byte> all;
  for (const auto piece : pieces) all.insert(all.end(), piece.begin(), piece.end());
  return all;
}

bool same(std::span<const std::span<std::byte>> pieces, const std::vector<std::byte>& all) {
  const std::byte* at = all.data();
  for (const auto piece : pieces) {
    if (std::memcmp(piece.data(), at, piece.size()) != 0) return false;
    at += piece.size();
  }
  return true;
}

void put_back(std::span<const std::span<std::byte>> pieces, const std::vector<std::byte>& all) {
  const std::byte* at = all.data();
  for (const auto piece : pieces) {
    std::memcpy(piece.data(), at, piece.size());
    at += piece.size();
  }
}

std::optional<CaughtFault> run_held(const std::function<void()>& body, Discipline& discipline) {
  const KernelStack& stack = KernelStack::of_this_thread();
  count_allocations(true);
  std::optional<CaughtFault> fault = catch_faults(body);
  count_allocations(false);
  std::string left = discipline.settle();
  if (fault && fault->address != nullptr && stack.overrun_by(fault->address)) {
    return CaughtFault{0, nullptr, "needs more than " + std::to_string(kKernelStackBytes) + " bytes of stack"};
  }
  if (!fault && !left.empty()) return CaughtFault{0, nullptr, std::move(left)};
  return fault;
}

KernelEnd run_held(KernelFunction kernel, const void* args, Discipline& discipline) {
  KernelEnd end;
  KernelStack& stack = KernelStack::of_this_thread();
  const Allocations before = allocations();
  const std::uint64_t threads = threads_started();
  end.fault = run_held([&] { end.status = stack.call(kernel, args); }, discipline);
  end.took_memory = allocations().taken != before.taken;
  end.started_threads = threads_started() != threads;
  if (end.fault) return end;
  std::string broken = stack.broken();
  if (broken.empty()) broken = no_status(end.status);
  if (!broken.empty()) end.fault = CaughtFault{0, nullptr, std::move(broken)};
  return end;
}

}  // namespace

std::string no_status(int status) {
  if (status >= 0 && status < ASSAY_STATUS_COUNT) return {};
  return "returned " + std::to_string(status) + ", which is no AssayStatus";
}

std::optional<CaughtFault> run_disciplined(const std::function<void()>& body, Allowed allowed) {
  Discipline discipline(call_rules(allowed));
  return run_held(body, discipline);
}

KernelEnd run_kernel(KernelFunction kernel, const void* args, Allowed allowed) {
  Discipline discipline(call_rules(allowed));
  return run_held(kernel, args, discipline);
}

void run_at_once(std::size_t count, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> awaited{count};
  std::atomic<bool> abandoned{false};
  Crowd crowd(count);
  const auto one = [&](std::size_t index) {
    KernelStack::of_this_thread().refill();
    --awaited;
    for (int turn = 0; awaited != 0 && !abandoned; ++turn) {
      if (turn < kTurns) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
    if (!abandoned) crowd.run(index, [&] { body(index); });
  };
  std::vector<std::jthread> threads;
  threads.reserve(count);
  try {
    for (std::size_t index = 1; index < count; ++index) threads.emplace_back(one, index);
  } catch (...) {
    abandoned = true;
    throw;
  }
  one(0);
}

// What a kernel that allocates keeps for itself it takes in the first calls; more with every call is a leak.
Repeated repeat_kernel(KernelFunction kernel, const void* args, Allowed allowed, std::span<const std::span<std::byte>> written,
                       std::int64_t times) {
  const std::vector<std::byte> before = copy_of(written);
  Repeated repeated;
  Discipline each(call_rules(allowed));
  const auto call_once = [&] {
    const KernelEnd before_it = std::exchange(repeated.end, run_held(kernel, args, each));
    repeated.end.took_memory |= before_it.took_memory;
    repeated.end.started_threads |= before_it.started_threads;
  };
  call_once();
  const std::vector<std::byte> first = copy_of(written);
  const int status = repeated.end.status;
  const Allocations then = allocations();
  Discipline rest(rest_rules());
  std::string left;
  for (std::int64_t call = 2; call <= times && !repeated.end.fault && repeated.odd_call == 0 && left.empty(); ++call) {
    put_back(written, before);
    call_once();
    if (!repeated.end.fault && (repeated.end.status != status || !same(written, first))) repeated.odd_call = call;
    if (call % kLookEvery == 0 || call == times) left = rest.settle();
  }
  const Allocations now = allocations();
  const std::int64_t kept = std::int64_t{now.taken - then.taken} - std::int64_t{now.given_back - then.given_back};
  if (times > 2 && kept >= times - 2)
    left = "kept " + std::to_string(kept) + " blocks of memory over " + std::to_string(times) + " calls: a leak";
  if (!repeated.end.fault && !left.empty()) repeated.end.fault = CaughtFault{0, nullptr, std::move(left)};
  return repeated;
}

}  // namespace assay
