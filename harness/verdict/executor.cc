#include "harness/verdict/executor.h"

#include <atomic>

#include "engine/threads.h"

namespace assay {

Execution InProcess::run(const Call&, std::span<const CallPart> parts, bool at_once) {
  Execution result;
  if (parts.size() == 1) {
    result.fault = run_guarded([&] { result.status = adapter_.run(variant_, parts[0].params, parts[0].pointers); });
    return result;
  }
  std::atomic<AssayStatus> status = ASSAY_OK;
  const auto count = static_cast<std::int64_t>(parts.size());
  parallel_ranges(at_once ? static_cast<int>(count) : 1, count, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      const CallPart& one = parts[static_cast<std::size_t>(part)];
      const AssayStatus part_status = adapter_.run(variant_, one.params, one.pointers);
      if (part_status != ASSAY_OK) status = part_status;
    }
  });
  result.status = status;
  return result;
}

}  // namespace assay
