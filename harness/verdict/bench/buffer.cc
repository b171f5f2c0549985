#include "harness/verdict/bench/buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <new>
#include <string>
#include <utility>

#include "harness/interop/runner/huge_pages.h"

namespace assay::bench {

namespace {

// Linux: "index3/size" holds "32768K". sysconf knows it too, except on aarch64.
std::size_t sysfs_cache_bytes() {
  for (int index = 4; index >= 2; --index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
    std::size_t amount = 0;
    char unit = 0;
    if (file >> amount >> unit && amount > 0) return amount << (unit == 'M' ? 20 : 10);
  }
  return 0;
}

std::size_t assumed_bytes = 0;

}  // namespace

PageBuffer::PageBuffer(std::size_t bytes, Pages pages) : mapped_(bytes + kHugePage), size_(bytes) {
  mapping_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping_ == MAP_FAILED) {
    mapping_ = nullptr;
    throw std::bad_alloc();
  }
  const auto start = reinterpret_cast<std::uintptr_t>(mapping_);
  data_ = static_cast<std::byte*>(mapping_) + ((kHugePage - start % kHugePage) % kHugePage);
  // A kernel without huge pages refuses the advice; that only costs speed.
  (void)madvise(mapping_, mapped_, pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  // Pages never written to are all the same page of zeros, and that one stays in the cache.
  std::memset(data_, 0, size_);
}

PageBuffer::~PageBuffer() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

PageBuffer::PageBuffer(PageBuffer&& other) noexcept {
  *this = std::move(other);
}

PageBuffer& PageBuffer::operator=(PageBuffer&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void assume_cache_bytes(std::size_t bytes) {
  assumed_bytes = bytes;
}

std::size_t last_level_cache_bytes() {
  static const std::size_t bytes = [] {
    const std::size_t found = sysfs_cache_bytes();
    return found > 0 ? found : std::size_t{32} << 20;
  }();
  return assumed_bytes > 0 ? assumed_bytes : bytes;
}

std::size_t cold_bytes() {
  const std::size_t memory = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return std::min(4 * last_level_cache_bytes() + kHugePage, memory / 4);
}

}  // namespace assay::bench
