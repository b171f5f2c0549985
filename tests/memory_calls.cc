#include "tests/memory_calls.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace {

std::atomic<std::int64_t> heap{0};
std::atomic<std::int64_t> kernel{0};

void* map(void* address, std::size_t length, int protection, int flags, int file, off_t offset) {
  ++kernel;
  const long result = syscall(SYS_mmap, address, length, protection, flags, file, offset);
  return reinterpret_cast<void*>(result);  // NOLINT(performance-no-int-to-ptr): so the kernel gives it
}

}  // namespace

extern "C" {

void* mmap(void* address, std::size_t length, int protection, int flags, int file, off_t offset) noexcept {
  return map(address, length, protection, flags, file, offset);
}
void* mmap64(void* address, std::size_t length, int protection, int flags, int file, off64_t offset) noexcept {
  return map(address, length, protection, flags, file, offset);
}
void* mremap(void* address, std::size_t from, std::size_t to, int flags, ...) noexcept {
  ++kernel;
  const long result = syscall(SYS_mremap, address, from, to, flags, nullptr);
  return reinterpret_cast<void*>(result);  // NOLINT(performance-no-int-to-ptr): so the kernel gives it
}

#if defined(__SANITIZE_ADDRESS__)

int __sanitizer_install_malloc_and_free_hooks(void (*taken)(const volatile void*, std::size_t),
                                              void (*given)(const volatile void*));

#else

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) {
  ++heap;
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  ++heap;
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  ++heap;
  return __libc_realloc(memory, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  ++heap;
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  ++heap;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  ++heap;
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}

#endif

}  // extern "C"

namespace {

#if defined(__SANITIZE_ADDRESS__)
const int installed =
    __sanitizer_install_malloc_and_free_hooks([](const volatile void*, std::size_t) { ++heap; }, [](const volatile void*) {});
#endif

// A line of /proc/self/status, in bytes; without the heap, whose growth for a buffer would show in what is read.
std::int64_t status(std::string_view key) {
  std::array<char, 4096> buffer;
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  const ssize_t length = read(file, buffer.data(), buffer.size());
  close(file);
  if (length <= 0) return -1;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(length));
  const std::size_t line = text.find(key);
  if (line == std::string_view::npos) return -1;
  const std::size_t digits = text.find_first_of("0123456789", line);
  std::int64_t kib = 0;
  std::from_chars(text.data() + digits, text.data() + text.size(), kib);
  return kib * 1024;
}

}  // namespace

namespace assay {

std::int64_t heap_calls() {
  return heap;
}
std::int64_t kernel_calls() {
  return kernel;
}

std::vector<MappedRange> mapped_ranges() {
  std::vector<MappedRange> ranges;
  std::ifstream file("/proc/self/maps");
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    MappedRange range;
    char dash = 0;
    std::string rights;
    std::string skipped;
    std::string name;
    in >> std::hex >> range.begin >> dash >> range.end >> rights >> skipped >> skipped >> skipped >> name;
    range.writable = rights.size() > 1 && rights[1] == 'w';
    range.file = name.starts_with('/') && !name.starts_with("/memfd:");
    range.heap = name == "[heap]";
    ranges.push_back(range);
  }
  return ranges;
}

std::vector<MappedRange> new_ranges(const std::vector<MappedRange>& before, const std::vector<MappedRange>& now) {
  std::vector<MappedRange> fresh;
  std::ranges::copy_if(now, std::back_inserter(fresh), [&](const MappedRange& one) {
    return std::ranges::none_of(before, [&](const MappedRange& old) { return old.begin < one.end && one.begin < old.end; });
  });
  return fresh;
}

std::int64_t address_space_bytes() {
  return status("VmSize:");
}
std::int64_t resident_bytes() {
  return status("VmRSS:");
}
std::int64_t resident_file_bytes() {
  return status("RssFile:");
}

}  // namespace assay
