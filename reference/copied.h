// An output that is a copy of an input beside others that are computed: its NaN is the input's, bit by bit. As a truth it is the double whose
// upper bits are the float's and whose lowest bit is set, which no arithmetic on floats makes.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

namespace assay::reference {

inline double copied(float x) {
  if (!std::isnan(x)) return static_cast<double>(x);
  const std::uint64_t bits = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<double>(bits >> 31 << 63 | std::uint64_t{0x7ff} << 52 | (bits & 0x7fffff) << 29 | 1);
}

// The bits of the float whose copy it is; none where any NaN will do, and of numbers.
inline std::optional<std::uint32_t> copied_nan(double truth) {
  const auto bits = std::bit_cast<std::uint64_t>(truth);
  if (!std::isnan(truth) || (bits & 1) == 0) return std::nullopt;
  return static_cast<std::uint32_t>(bits >> 63 << 31 | 0x7f800000 | (bits >> 29 & 0x7fffff));
}

}  // namespace assay::reference
