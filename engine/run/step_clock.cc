#include "engine/run/step_clock.h"

#include <algorithm>

#include "engine/run/step_calls.h"

namespace assay {

StepClock::StepClock(std::size_t steps, int threads, std::int64_t window)
    : steps_(steps), threads_(threads), window_(window), cells_(2 * static_cast<std::size_t>(threads) * steps) {}

void StepClock::begin(const Pass& pass) {
  Work& work = work_[pass.rows == 1 ? 0 : 1];
  ++work.passes;
  work.rows += pass.rows;
  work.logit_rows += pass.logit_rows;
  work.logit_passes += pass.logit_rows > 0 ? 1 : 0;
  for (std::int64_t row = 0; row < pass.rows; ++row) {
    const std::int64_t before = pass.position + row + 1;
    work.pairs += window_ == 0 ? before : std::min(before, window_);
  }
  const std::int64_t all = pass.position + pass.rows;
  work.keys += window_ == 0 ? all : std::min(all, window_ + pass.rows - 1);
}

StepClock::Spent StepClock::spent(bool decode, std::size_t step) const {
  Cell sum;
  for (int part = 0; part < threads_; ++part) {
    const Cell& cell = cells_[index(decode, part) * steps_ + step];
    sum.busy += cell.busy;
    sum.waiting += cell.waiting;
  }
  return {std::chrono::duration<double>(sum.busy).count(), std::chrono::duration<double>(sum.waiting).count()};
}

}  // namespace assay
