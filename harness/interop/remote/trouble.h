// What the parts of RemoteRunner share.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/interop/runner/wire.h"

namespace assay {

constexpr std::uint64_t kMostText = 1 << 22;  // greetings, faults, refusals

// What a runner did instead of answering, after "the runner ".
class Trouble : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
class Late : public Trouble {
 public:
  using Trouble::Trouble;
};

inline std::string seconds(std::chrono::milliseconds limit) {
  return fmt::format("{} s", static_cast<double>(limit.count()) / 1000);
}

inline std::string text_of(const std::vector<std::byte>& payload) {
  return wire::shown({reinterpret_cast<const char*>(payload.data()), payload.size()});
}

}  // namespace assay
