#include "engine/kv/mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "engine/kv/shape.h"

namespace assay {
namespace {

constexpr int kLazy = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

void checked(int result, const char* call) {
  if (result != 0) throw KvExhausted("kv: " + std::string(call) + ": " + std::strerror(errno));
}

}  // namespace

std::int64_t page_bytes() {
  static const std::int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

Mapping::Mapping(std::int64_t bytes, int protection) {
  const std::int64_t page = page_bytes();
  const std::int64_t whole = round_up(bytes, page);
  void* const start = mmap(nullptr, static_cast<std::size_t>(whole + 2 * page), PROT_NONE, kLazy, -1, 0);
  if (start == MAP_FAILED) {
    throw KvExhausted("memory: the kernel maps no " + std::to_string(bytes) + " bytes: " + std::strerror(errno));
  }
  begin_ = static_cast<char*>(start) + page;
  bytes_ = whole;
  if (protection == PROT_NONE) return;
  if (mprotect(begin_, static_cast<std::size_t>(bytes_), protection) != 0) {
    const int error = errno;
    munmap(start, static_cast<std::size_t>(whole + 2 * page));
    throw KvExhausted("memory: the kernel gives no " + std::to_string(bytes) + " bytes: " + std::strerror(error));
  }
}

Mapping::~Mapping() {
  if (begin_ != nullptr) munmap(begin_ - page_bytes(), static_cast<std::size_t>(bytes_ + 2 * page_bytes()));
}

Mapping Mapping::memory(std::int64_t bytes) {
  return {bytes, PROT_READ | PROT_WRITE};
}

Mapping Mapping::address_space(std::int64_t bytes) {
  return {bytes, PROT_NONE};
}

void Mapping::discard(std::int64_t offset, std::int64_t bytes) {
  const std::int64_t first = round_up(offset, page_bytes());
  const std::int64_t last = (offset + bytes) / page_bytes() * page_bytes();
  if (first >= last) return;
  checked(madvise(begin_ + first, static_cast<std::size_t>(last - first), MADV_DONTNEED), "madvise(MADV_DONTNEED)");
}

void Mapping::shrink(std::int64_t bytes) {
  const std::int64_t page = page_bytes();
  const std::int64_t whole = round_up(bytes, page);
  if (whole >= bytes_) return;
  char* const guard = begin_ + whole;
  checked(mmap(guard, static_cast<std::size_t>(page), PROT_NONE, kLazy | MAP_FIXED, -1, 0) == MAP_FAILED ? -1 : 0,
          "mmap of a guard page");
  checked(munmap(guard + page, static_cast<std::size_t>(bytes_ - whole)), "munmap");
  bytes_ = whole;
}

void Mapping::huge_pages() {
  // A hint: without huge pages all is as before, a few per cent slower.
  (void)madvise(begin_, static_cast<std::size_t>(bytes_), MADV_HUGEPAGE);
}

void Mapping::small_pages() {
  // Refused only by kernels without huge pages, where it is so anyway.
  (void)madvise(begin_, static_cast<std::size_t>(bytes_), MADV_NOHUGEPAGE);
}

}  // namespace assay
