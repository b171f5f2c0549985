// What the Linux kernel says of a cache's memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace assay {

struct MemoryRange {
  const void* begin;
  std::int64_t bytes;
};

struct KvUsage {
  std::int64_t virtual_bytes = 0;   // address space
  std::int64_t resident_bytes = 0;  // Rss: pages present
  std::int64_t dirty_bytes = 0;     // pages written to
  std::int64_t heap_bytes = 0;      // physical pages of a heap of all sequences; 0 without such a heap
};

// Sums /proc/self/smaps over `ranges`, which must not overlap. A mapping of the kernel's list may not reach beyond its
// range other than by inaccessible pages. Throws KvError where the list cannot be read.
KvUsage read_kv_usage(std::span<const MemoryRange> ranges);

}  // namespace assay
