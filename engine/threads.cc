#include "engine/threads.h"

#include <algorithm>
#include <exception>

#include "kernels/isa.h"

namespace assay {

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
