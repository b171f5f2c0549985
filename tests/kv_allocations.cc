// In a file of its own: where a compiler inlines only one of a pair, it warns that free() meets what new gave.
#include "tests/kv_allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> count{0};

}  // namespace

std::int64_t assay::allocations() {
  return count;
}

void* operator new(std::size_t bytes) {
  ++count;
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
