// How far a suite has come, and how long it may still take.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "harness/verdict/suite_unit.h"

namespace assay {

using SuiteClock = std::chrono::steady_clock;

// What is known of a unit.
struct UnitState {
  UnitResult result;
  std::int64_t planned = 0;  // results, as far as it has counted them
  std::int64_t done = 0;
  std::optional<SuiteClock::time_point> started;
  std::optional<double> seconds;
  std::string lost;  // how its process ended
};

// But for the ops that are done, which the suite counts in its order. A state for each unit; `jobs` processes, or 0, share the work.
SuiteProgress progress_of(std::span<const Unit> units, std::span<const UnitState> states, int jobs);

}  // namespace assay
