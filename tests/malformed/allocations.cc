#include "tests/malformed/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> total{0};
std::atomic<std::size_t> largest{0};

}  // namespace

void* operator new(std::size_t size) {
  total += size;
  if (size > largest) largest = size;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace assay::malformed {

void start_counting_allocations() noexcept {
  total = 0;
  largest = 0;
}

Allocations allocations() noexcept {
  return {total, largest};
}

}  // namespace assay::malformed
