// Threads above the kernels: a kernel never starts one, its caller cuts the rows.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

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

// Cuts [0, count) into at most `threads` ranges at multiples of `unit` and runs body(begin, end) for each, at the same
// time. The cut depends on the arguments alone. Every thread asserts the float environment first. An exception of a
// body is rethrown in the caller once all have ended.
void parallel_ranges(int threads, std::int64_t count, std::int64_t unit,
                     const std::function<void(std::int64_t, std::int64_t)>& body);

}  // namespace assay
