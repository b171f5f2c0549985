// Threads above the kernels: a kernel never starts one, its caller cuts the rows.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/time_slices.h"

namespace assay {

struct IndexRange {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t count() const { return end - begin; }
};

// Part `part` of [0, count) cut in order into `parts`, whose lengths differ by one at most.
inline IndexRange range_of_part(std::int64_t count, int part, int parts) {
  return {count * part / parts, count * (part + 1) / parts};
}

// What threads take of [0, count) in turn: pieces that grow smaller, so that all end together however fast each core happens to be.
class SharedRange {
 public:
  // Not while threads take.
  void reset() { next_.store(0, std::memory_order_relaxed); }
  // The next piece, a multiple of `least` unless it ends at `count`; empty when all is taken.
  IndexRange take(std::int64_t count, std::int64_t least, int threads);

 private:
  std::atomic<std::int64_t> next_{0};
};

// Threads that work together, the caller's among them. Who waits for another spins for a moment and then sleeps: two programs on the
// same cores cost each other no more than these moments. Where there are more threads than cores nobody spins.
class Team {
 public:
  // The caller's thread and `threads - 1` new ones. Throws std::system_error where the system gives no more.
  explicit Team(int threads);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team();

  int size() const { return static_cast<int>(others_.size()) + 1; }

  // body(part) for each part of 0 .. size() - 1 at the same time, part 0 by the caller. Every thread asserts the float environment
  // first. An exception of a body is rethrown once all have ended. Allocates nothing. Not from a body.
  void run(const std::function<void(int part)>& body);
  // From the bodies of a run: goes on when every thread has come. A body that may throw must come to all that the others come to.
  void barrier(int part);
  // For the caller's thread: how long it has slept so far to wait for the others.
  std::chrono::nanoseconds slept() const { return slept_; }

 private:
  void work(int part);
  void end_early();
  void end();
  void run_part(int part);
  void await_turn_after(int turn, int part);

  ShortTimeSlices slices_;  // made before the others, who inherit them
  std::vector<std::thread> others_;
  int parts_;                                       // size(), once others_ is whole
  std::atomic<int> spin_;                           // for so many microseconds before sleeping; 0: never
  const std::function<void(int)>* body_ = nullptr;  // null: the threads end
  std::atomic<int> arrived_{0};
  std::atomic<int> turn_{0};  // grows when all have arrived
  std::chrono::nanoseconds slept_{0};
  std::mutex failing_;
  std::exception_ptr error_;
};

// Cuts [0, count) into at most as many ranges as the team has threads, at multiples of `unit`, and runs body(begin, end) for each, at
// the same time. The cut depends on the arguments alone.
void parallel_ranges(Team& team, std::int64_t count, std::int64_t unit,
                     const std::function<void(std::int64_t, std::int64_t)>& body);

// The same in blocks of `block`, the last one shorter, each taken by the next thread that is free: what is computed of a block does not
// depend on how many threads there are.
void parallel_blocks(Team& team, std::int64_t count, std::int64_t block,
                     const std::function<void(std::int64_t, std::int64_t)>& body);

}  // namespace assay
