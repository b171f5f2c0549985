#include "harness/forensics/reduce/ddmin.h"

#include <algorithm>
#include <numeric>

namespace assay {
namespace {

// Leaves out each run of `length` items that is not needed; whether there was one.
bool sweep(std::vector<std::size_t>& kept, std::size_t length, const StillFails& fails, const Ended& ended) {
  bool dropped = false;
  for (std::size_t at = 0; at < kept.size() && !ended();) {
    const std::size_t end = std::min(at + length, kept.size());
    std::vector<std::size_t> fewer(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(at));
    fewer.insert(fewer.end(), kept.begin() + static_cast<std::ptrdiff_t>(end), kept.end());
    if (fails(fewer)) {
      kept = std::move(fewer);
      dropped = true;
    } else {
      at = end;
    }
  }
  return dropped;
}

}  // namespace

std::vector<std::size_t> smallest_failing(std::size_t count, const StillFails& fails, const Ended& ended) {
  std::vector<std::size_t> kept(count);
  std::iota(kept.begin(), kept.end(), 0);
  for (std::size_t length = count; length > 1; length = (length + 1) / 2) sweep(kept, length, fails, ended);
  while (sweep(kept, 1, fails, ended)) {
  }
  return kept;
}

}  // namespace assay
