// The statuses of calls under the names that goldens and messages use.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "kernels/abi.h"

namespace assay {

inline constexpr std::array<std::string_view, ASSAY_STATUS_COUNT> kStatusNames{"ok", "bad_shape", "bad_parameter", "out_of_range",
                                                                               "not_finite"};

constexpr std::string_view status_name(AssayStatus status) {
  const auto index = static_cast<std::size_t>(status);
  return index < kStatusNames.size() ? kStatusNames[index] : "unknown status";
}

constexpr std::optional<AssayStatus> status_from_name(std::string_view name) {
  const auto* const found = std::ranges::find(kStatusNames, name);
  if (found == kStatusNames.end()) return std::nullopt;
  return static_cast<AssayStatus>(found - kStatusNames.begin());
}

}  // namespace assay
