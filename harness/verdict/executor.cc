#include "harness/verdict/executor.h"

#include <atomic>

#include "engine/threads.h"
#include "harness/verdict/call.h"
#include "kernels/isa.h"

namespace assay {

Execution InProcess::run(const Call& call, std::span<const CallPart> parts, bool at_once) {
  Execution result;
  std::vector<Arguments> all;  // bound before anything runs: a fault jumps out of the call, and what it owned would leak
  all.reserve(parts.size());
  for (const CallPart& part : parts) all.emplace_back(call.op(), part.params, part.pointers, part.instead);
  if (parts.size() == 1) {
    result.fault = run_guarded([&] { result.status = kernel_(all[0].data()); });
    if (take_back_tiles() && !result.fault) result.failure = kTilesLeft;
    return result;
  }
  std::atomic<AssayStatus> status = ASSAY_OK;
  std::atomic<bool> tiles_left = false;
  const auto count = static_cast<std::int64_t>(parts.size());
  parallel_ranges(at_once ? static_cast<int>(count) : 1, count, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      const AssayStatus part_status = kernel_(all[static_cast<std::size_t>(part)].data());
      if (part_status != ASSAY_OK) status = part_status;
      if (take_back_tiles()) tiles_left = true;
    }
  });
  result.status = status;
  if (tiles_left) result.failure = kTilesLeft;
  return result;
}

}  // namespace assay
