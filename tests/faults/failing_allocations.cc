#include "tests/faults/failing_allocations.h"

#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace {

std::atomic<std::int64_t> blocks{0};
std::atomic<std::int64_t> mapped{0};
thread_local bool armed = false;
thread_local std::int64_t calls = 0;
thread_local std::int64_t failing = 0;

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};
std::array<Range, 16> spared;
std::size_t spared_count = 0;

// The code of libraries that do not survive a refusal.
int find_spared(dl_phdr_info* info, std::size_t, void*) {
  const char* const name = info->dlpi_name;
  if (strstr(name, "ld-linux") == nullptr) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || spared_count == spared.size()) continue;
    const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    spared[spared_count++] = {begin, begin + part.p_memsz};
  }
  return 0;
}

[[maybe_unused]] bool refused(const void* caller) {
  if (!armed) return false;
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  for (std::size_t i = 0; i < spared_count; ++i) {
    if (at >= spared[i].begin && at < spared[i].end) return false;
  }
  if (++calls != failing) return false;
  errno = ENOMEM;
  return true;
}

[[maybe_unused]] void* counted(void* memory) {
  blocks += memory != nullptr;
  return memory;
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t bytes) {
  return refused(__builtin_return_address(0)) ? nullptr : counted(__libc_malloc(bytes));
}
void* calloc(std::size_t count, std::size_t bytes) {
  return refused(__builtin_return_address(0)) ? nullptr : counted(__libc_calloc(count, bytes));
}
void* realloc(void* memory, std::size_t bytes) {
  if (refused(__builtin_return_address(0))) return nullptr;
  void* const now = __libc_realloc(memory, bytes);
  if (memory == nullptr) return counted(now);
  blocks -= bytes == 0;  // given back
  return now;
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  return refused(__builtin_return_address(0)) ? nullptr : counted(__libc_memalign(alignment, bytes));
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return refused(__builtin_return_address(0)) ? nullptr : counted(__libc_memalign(alignment, bytes));
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  if (refused(__builtin_return_address(0))) return ENOMEM;
  *memory = counted(__libc_memalign(alignment, bytes));
  return *memory == nullptr ? ENOMEM : 0;
}
void free(void* memory) {
  blocks -= memory != nullptr;
  __libc_free(memory);
}

void* mmap(void* address, std::size_t length, int protection, int flags, int file, off_t offset) noexcept {
  if (refused(__builtin_return_address(0))) return MAP_FAILED;
  const long result = syscall(SYS_mmap, address, length, protection, flags, file, offset);
  void* const memory = reinterpret_cast<void*>(result);  // NOLINT(performance-no-int-to-ptr): so the kernel gives it
  if (memory != MAP_FAILED && (flags & MAP_FIXED) == 0) mapped += static_cast<std::int64_t>(length);
  return memory;
}
void* mmap64(void* address, std::size_t length, int protection, int flags, int file, off64_t offset) noexcept {
  return mmap(address, length, protection, flags, file, offset);
}
int munmap(void* address, std::size_t length) noexcept {
  mapped -= static_cast<std::int64_t>(length);
  return static_cast<int>(syscall(SYS_munmap, address, length));
}

}  // extern "C"

bool assay::faults::can_fail_allocations() {
  return true;
}

#else

bool assay::faults::can_fail_allocations() {
  return false;
}

#endif

namespace assay::faults {

void fail_allocation(std::int64_t number) {
  if (spared_count == 0) dl_iterate_phdr(find_spared, nullptr);
  calls = 0;
  failing = number;
  armed = true;
}

std::int64_t stop_failing() {
  armed = false;
  return calls;
}

std::int64_t heap_blocks() {
  return blocks;
}
std::int64_t mapped_bytes() {
  return mapped;
}

}  // namespace assay::faults
