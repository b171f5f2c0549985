// Arithmetic on sizes that a file states: nothing wraps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace assay {

inline std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

inline std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// Number of elements, each partial product checked, so that a later zero hides no overflow. Within int64, as shapes are.
inline std::optional<std::uint64_t> checked_product(std::span<const std::uint64_t> dims) noexcept {
  std::uint64_t product = 1;
  bool zero = false;
  for (const std::uint64_t dim : dims) {
    zero = zero || dim == 0;
    const auto next = checked_multiply(product, dim == 0 ? 1 : dim);
    if (!next || *next > INT64_MAX) return std::nullopt;
    product = *next;
  }
  return zero ? 0 : product;
}

// The next multiple of a power of two.
inline std::optional<std::uint64_t> checked_align(std::uint64_t value, std::uint64_t alignment) noexcept {
  const auto raised = checked_add(value, alignment - 1);
  if (!raised) return std::nullopt;
  return *raised & ~(alignment - 1);
}

}  // namespace assay
