// Counts what this process takes from the heap and from the kernel: calls of malloc and its kin and of mmap and its kin, by every
// thread and every library (libstdc++'s among them), because the program's definitions stand before the C library's.
// Under AddressSanitizer, whose heap it is then, its own hooks count.
#pragma once

#include <cstdint>
#include <vector>

namespace assay {

std::int64_t heap_calls();    // malloc, calloc, realloc, aligned ones; operator new calls malloc
std::int64_t kernel_calls();  // mmap and mremap; those that malloc makes are its own

// A range of /proc/self/maps.
struct MappedRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool writable = false;
  bool file = false;  // backed by a file that has a name, other than shared memory
  bool heap = false;
  std::int64_t bytes() const { return static_cast<std::int64_t>(end - begin); }
};
std::vector<MappedRange> mapped_ranges();
// Those in `now` that were not in `before`.
std::vector<MappedRange> new_ranges(const std::vector<MappedRange>& before, const std::vector<MappedRange>& now);

std::int64_t address_space_bytes();  // VmSize
std::int64_t resident_bytes();       // VmRSS: the program's, the heap's, files' pages that are mapped
std::int64_t resident_file_bytes();  // RssFile: of these, the files'

}  // namespace assay
