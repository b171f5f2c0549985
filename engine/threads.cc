#include "engine/threads.h"

#include <algorithm>
#include <exception>

#include "kernels/isa.h"

namespace assay {

IndexRange SharedRange::take(std::int64_t count, std::int64_t least, int threads) {
  const std::int64_t parts = 2 * std::int64_t{threads};  // of what is left
  std::int64_t begin = next_.load(std::memory_order_relaxed);
  std::int64_t end = begin;
  do {
    const std::int64_t left = count - begin;
    if (left <= 0) return {count, count};
    end = begin + std::min(left, std::max(least, left / parts / least * least));
  } while (!next_.compare_exchange_weak(begin, end, std::memory_order_relaxed));
  return {begin, end};
}

void parallel_ranges(int threads, std::int64_t count, std::int64_t unit,
                     const std::function<void(std::int64_t, std::int64_t)>& body) {
  const std::int64_t units = (count + unit - 1) / unit;
  const auto parts = static_cast<int>(std::clamp<std::int64_t>(threads, 1, std::max<std::int64_t>(units, 1)));
  std::exception_ptr first_error;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
  for (int part = 0; part < parts; ++part) {
    try {
      assert_float_environment();
      const IndexRange range = range_of_part(units, part, parts);
      body(range.begin * unit, std::min(count, range.end * unit));
    } catch (...) {
#pragma omp critical(assay_parallel_ranges)
      if (!first_error) first_error = std::current_exception();
    }
  }
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace assay
