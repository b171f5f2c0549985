// The units of a suite, shared out among processes: what a kernel does to its process ends that one alone.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "harness/verdict/suite_message.h"

namespace assay {

// Told of units by their number.
struct UnitEvents {
  std::function<void(std::size_t)> started;
  std::function<void(std::size_t, SuiteMessage)> said;
  // The process that had it ended: "ended by signal 9 (Killed)".
  std::function<void(std::size_t, const std::string&)> lost;
  std::function<void()> tick;  // ten times a second and more
  std::function<bool()> stop;  // whether to leave the rest
};

// Forks `jobs` processes, and leaves none behind. The first takes units from the front, so that a suite's first op is soon ready; the others
// from the back, where the long ones are. Throws std::runtime_error with what was thrown in one of them. This process must have one
// thread.
void run_in_processes(const SuitePlan& plan, std::span<const Unit> units, int jobs, const UnitEvents& events);

}  // namespace assay
