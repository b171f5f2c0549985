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

// Every mapping is of one file in memory, so that a process forked from here shares it.
GuardedMemory::GuardedMemory(std::size_t bytes, std::size_t page) : bytes_((bytes / page + 1) * page), page_(page) {
  const int file = memfd_create("assay", MFD_CLOEXEC);
  if (file < 0) throw std::bad_alloc();
  void* const base = mmap(nullptr, reserved(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const auto map = [&](std::size_t offset, int rights) {
    return mmap(static_cast<std::uint8_t*>(base) + offset, bytes_, rights, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
  };
  const bool mapped = base != MAP_FAILED && ftruncate(file, static_cast<off_t>(bytes_)) == 0 &&
                      map(page_, PROT_READ | PROT_WRITE) && map(page_ + distance(), PROT_READ);
  close(file);
  if (!mapped) {
    if (base != MAP_FAILED) munmap(base, reserved());
    throw std::bad_alloc();
  }
  begin_ = static_cast<std::uint8_t*>(base) + page_;
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
