// Filling a bounded Expected.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "reference/expected.h"

namespace assay::reference {

inline void resize_bounded(Expected& y, std::int64_t count) {
  y = {};
  y.value.resize(static_cast<std::size_t>(count));
  y.bound.resize(static_cast<std::size_t>(count));
}

// Where the truth is NaN or infinite its class is all that is compared; the bound is then 0.
inline void set_bounded(Expected& y, std::int64_t index, double value, double bound) {
  const auto i = static_cast<std::size_t>(index);
  y.value[i] = value;
  y.bound[i] = std::isfinite(value) ? bound : 0;
}

inline void set_bits_only(Expected& y, std::int64_t index, std::uint8_t how = 1) {
  if (y.bits_only.empty()) y.bits_only.resize(y.value.size(), 0);
  y.bits_only[static_cast<std::size_t>(index)] = how;
}

}  // namespace assay::reference
