#include "harness/verdict/guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <utility>

namespace assay {

std::size_t guard_page_bytes() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// Shared, so that a process forked from here writes to it too; mremap of no bytes maps the same memory again.
GuardedMemory::GuardedMemory(std::size_t bytes, std::size_t page) : bytes_((bytes / page + 1) * page), page_(page) {
  void* const base = mmap(nullptr, reserved(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  begin_ = static_cast<std::uint8_t*>(base) + page_;
  std::uint8_t* const second = begin_ + distance();
  if (mmap(begin_, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
      mremap(begin_, 0, bytes_, MREMAP_MAYMOVE | MREMAP_FIXED, second) == MAP_FAILED ||
      mprotect(second, bytes_, PROT_READ) != 0) {
    munmap(base, reserved());
    throw std::bad_alloc();
  }
}

GuardedMemory::GuardedMemory(GuardedMemory&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)), bytes_(other.bytes_), page_(other.page_) {}

GuardedMemory::~GuardedMemory() {
  if (begin_ != nullptr) munmap(begin_ - page_, reserved());
}

bool GuardedMemory::owns(const void* address) const {
  const auto* byte = static_cast<const std::uint8_t*>(address);
  return byte >= begin_ - page_ && byte < begin_ - page_ + reserved();
}

std::uint8_t* GuardedMemory::writable(const void* address) const {
  const std::ptrdiff_t offset = static_cast<const std::uint8_t*>(address) - begin_;
  const auto second = static_cast<std::ptrdiff_t>(bytes_ + page_);
  return begin_ + (offset < second ? offset : offset - static_cast<std::ptrdiff_t>(distance()));
}

}  // namespace assay
