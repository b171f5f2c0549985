#include "harness/verdict/discipline/allocations.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "harness/verdict/discipline/sanitized.h"

namespace {

thread_local bool counting = false;
thread_local assay::Allocations counted;

#if ASSAY_SANITIZED

extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*taken)(const volatile void*, std::size_t),
                                                         void (*given)(const volatile void*));

const int installed =
    __sanitizer_install_malloc_and_free_hooks([](const volatile void*, std::size_t) { counted.taken += counting ? 1U : 0U; },
                                              [](const volatile void*) { counted.given_back += counting ? 1U : 0U; });

#else

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

Range loader_range() {
  Range range;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        if (std::strstr(info->dlpi_name, "/ld-linux") == nullptr) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
          if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0) *static_cast<Range*>(out) = {begin, begin + part.p_memsz};
        }
        return 1;
      },
      &range);
  return range;
}

const Range loader = loader_range();

bool counts(const void* caller) {
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  return counting && (at < loader.begin || at >= loader.end);
}

// The definition after ours: the C library's, or that of a library that was preloaded.
template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

#endif

}  // namespace

assay::Allocations assay::allocations() {
  return counted;
}
void assay::count_allocations(bool on) {
  counting = on;
}

#if !ASSAY_SANITIZED

extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

#define ASSAY_COUNT(what) counted.what += counts(__builtin_return_address(0)) ? 1U : 0U

[[gnu::weak]] void* malloc(std::size_t bytes) {
  ASSAY_COUNT(taken);
  return __libc_malloc(bytes);
}
[[gnu::weak]] void* calloc(std::size_t count, std::size_t bytes) {
  ASSAY_COUNT(taken);
  return __libc_calloc(count, bytes);
}
// Another size is another block.
[[gnu::weak]] void* realloc(void* memory, std::size_t bytes) {
  ASSAY_COUNT(taken);
  if (memory != nullptr) ASSAY_COUNT(given_back);
  return __libc_realloc(memory, bytes);
}
[[gnu::weak]] void* memalign(std::size_t alignment, std::size_t bytes) {
  ASSAY_COUNT(taken);
  return __libc_memalign(alignment, bytes);
}
[[gnu::weak]] void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  ASSAY_COUNT(taken);
  return __libc_memalign(alignment, bytes);
}
[[gnu::weak]] int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  ASSAY_COUNT(taken);
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
[[gnu::weak]] void free(void* memory) {
  if (memory != nullptr) ASSAY_COUNT(given_back);
  __libc_free(memory);
}

[[gnu::weak]] void* mmap(void* address, std::size_t length, int protection, int flags, int file, off_t offset) noexcept {
  ASSAY_COUNT(taken);
  static const auto map = next<decltype(&mmap)>("mmap");
  return map(address, length, protection, flags, file, offset);
}
[[gnu::weak]] void* mmap64(void* address, std::size_t length, int protection, int flags, int file, off64_t offset) noexcept {
  ASSAY_COUNT(taken);
  static const auto map = next<decltype(&mmap64)>("mmap64");
  return map(address, length, protection, flags, file, offset);
}
[[gnu::weak]] int munmap(void* address, std::size_t length) noexcept {
  ASSAY_COUNT(given_back);
  static const auto unmap = next<decltype(&munmap)>("munmap");
  return unmap(address, length);
}

}  // extern "C"

#endif
