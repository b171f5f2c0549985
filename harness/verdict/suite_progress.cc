#include "harness/verdict/suite_progress.h"

#include <algorithm>
#include <map>

namespace assay {
namespace {

// What units of their kind have taken, of those that are left.
std::optional<double> seconds_left(std::span<const Unit> units, std::span<const UnitState> states, int jobs) {
  struct Mean {
    double sum = 0;
    int count = 0;
  };
  std::map<Kind, Mean> means;
  Mean all;
  for (std::size_t u = 0; u < units.size(); ++u) {
    for (Mean* mean : {&means[units[u].kinds.front()], &all}) {
      mean->sum += states[u].seconds.value_or(0);
      mean->count += states[u].seconds ? 1 : 0;
    }
  }
  if (all.count == 0) return std::nullopt;
  double left = 0;
  for (std::size_t u = 0; u < units.size(); ++u) {
    if (states[u].result.done) continue;
    const Mean& kind = means.at(units[u].kinds.front());
    const Mean& mean = kind.count > 0 ? kind : all;
    const double gone = states[u].started ? std::chrono::duration<double>(SuiteClock::now() - *states[u].started).count() : 0;
    left += std::max(0.0, mean.sum / mean.count - gone);
  }
  return left / std::max(jobs, 1);
}

}  // namespace

SuiteProgress progress_of(std::span<const Unit> units, std::span<const UnitState> states, int jobs) {
  SuiteProgress now;
  bool counted = true;
  for (std::size_t u = 0; u < units.size(); ++u) {
    now.ops += u == 0 || units[u].op != units[u - 1].op ? 1 : 0;
    now.cases_done += states[u].done;
    now.cases += states[u].planned;
    counted = counted && states[u].started;
  }
  if (!counted) now.cases = 0;
  now.seconds_left = seconds_left(units, states, jobs);
  return now;
}

}  // namespace assay
