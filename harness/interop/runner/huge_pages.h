// Memory for timed calls, on huge pages where the system has some: on small ones a kernel that streams is timed too slow.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace assay {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

// One at least: a call may have no tensor but what it shares.
constexpr std::size_t huge_pages(std::size_t bytes) {
  return (std::max<std::size_t>(bytes, 1) + kHugePage - 1) / kHugePage * kHugePage;
}

// `bytes` of the file, or of nobody else's memory where it is -1; at a multiple of kHugePage, and so many that munmap takes huge_pages(bytes).
// nullptr: there is not that much.
inline std::byte* map_huge(std::size_t bytes, int file) {
  const std::size_t whole = huge_pages(bytes);
  void* const room = mmap(nullptr, whole + kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(room);
  std::byte* const at = begin + (kHugePage - reinterpret_cast<std::uintptr_t>(room) % kHugePage) % kHugePage;
  if (at > begin) munmap(begin, static_cast<std::size_t>(at - begin));
  if (at < begin + kHugePage) munmap(at + whole, static_cast<std::size_t>(begin + kHugePage - at));
  const int kind = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  if (mmap(at, whole, PROT_READ | PROT_WRITE, kind | MAP_FIXED, file, 0) == MAP_FAILED) {
    munmap(at, whole);
    return nullptr;
  }
  (void)madvise(at, whole, MADV_HUGEPAGE);
  return at;
}

// Of a file, whatever the system's shmem_enabled says but "deny" (Linux 6.1 and later). Each page has to be there first.
inline void gather_huge(std::byte* memory, std::size_t bytes) {
  constexpr int kMadvCollapse = 25;  // MADV_COLLAPSE, which the C library's headers lack
  for (std::size_t at = 0; at < bytes; at += kHugePage) memory[at] = std::byte{0};
  (void)madvise(memory, huge_pages(bytes), kMadvCollapse);
}

}  // namespace assay
