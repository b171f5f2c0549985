// Threads above the kernels: a kernel never starts one, its caller cuts the rows.
#pragma once

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

// Cuts [0, count) into at most `threads` ranges at multiples of `unit` and runs body(begin, end) for each, at the same
// time. The cut depends on the arguments alone. Every thread asserts the float environment first. An exception of a
// body is rethrown in the caller once all have ended.
void parallel_ranges(int threads, std::int64_t count, std::int64_t unit,
                     const std::function<void(std::int64_t, std::int64_t)>& body);

}  // namespace assay
