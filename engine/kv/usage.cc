#include "engine/kv/usage.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <vector>

#include "engine/kv/shape.h"

namespace assay {
namespace {

struct Interval {
  std::uint64_t begin;
  std::uint64_t end;
};

std::vector<Interval> sorted(std::span<const MemoryRange> ranges) {
  std::vector<Interval> result;
  for (const MemoryRange& range : ranges) {
    const auto begin = reinterpret_cast<std::uint64_t>(range.begin);
    result.push_back({begin, begin + static_cast<std::uint64_t>(range.bytes)});
  }
  std::ranges::sort(result, {}, &Interval::begin);
  return result;
}

// Bytes of `mapping` inside the intervals, which are sorted and apart.
std::uint64_t overlap(const std::vector<Interval>& intervals, const Interval& mapping) {
  auto next = std::ranges::upper_bound(intervals, mapping.begin, {}, &Interval::end);
  std::uint64_t bytes = 0;
  for (; next != intervals.end() && next->begin < mapping.end; ++next) {
    bytes += std::min(next->end, mapping.end) - std::max(next->begin, mapping.begin);
  }
  return bytes;
}

// "Rss:                 12 kB" in bytes, if the line is of that field.
std::int64_t field(const std::string& line, const char* name) {
  std::int64_t kilobytes = 0;
  const std::string format = std::string(name) + ": %" SCNd64;
  return std::sscanf(line.c_str(), format.c_str(), &kilobytes) == 1 ? kilobytes * 1024 : 0;  // NOLINT(cert-err34-c)
}

}  // namespace

KvUsage read_kv_usage(std::span<const MemoryRange> ranges) {
  const std::vector<Interval> intervals = sorted(ranges);
  std::ifstream smaps("/proc/self/smaps");
  if (!smaps) throw KvError("kv: /proc/self/smaps cannot be read; the kernel's view of the cache is expected there");
  KvUsage usage;
  bool ours = false;
  std::string line;
  while (std::getline(smaps, line)) {
    Interval mapping{};
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " ", &mapping.begin, &mapping.end) == 2) {  // NOLINT(cert-err34-c)
      const std::uint64_t bytes = overlap(intervals, mapping);
      usage.virtual_bytes += static_cast<std::int64_t>(bytes);
      ours = bytes > 0;
    } else if (ours) {
      usage.resident_bytes += field(line, "Rss");
      usage.dirty_bytes += field(line, "Shared_Dirty") + field(line, "Private_Dirty");
    }
  }
  return usage;
}

}  // namespace assay
