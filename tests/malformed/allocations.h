#pragma once

#include <cstddef>

namespace assay::malformed {

// Bytes asked of operator new since start_counting_allocations(). Linking allocations.cc replaces the program's operator new.
struct Allocations {
  std::size_t total;
  std::size_t largest;  // at once
};

void start_counting_allocations() noexcept;
Allocations allocations() noexcept;

}  // namespace assay::malformed
