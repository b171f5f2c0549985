#include "engine/run/step_clock.h"

#include <algorithm>

#include "engine/run/step_calls.h"

namespace assay {

StepClock::StepClock(std::size_t steps, int threads, std::int64_t window)
    : steps_(steps), threads_(threads), window_(window), cells_(2 * static_cast<std::size_t>(threads) * steps) {}

const StepClock::Share& StepClock::Work::of(const Step& step) const {
  return step.of_logits ? of_logits : all;
}

void StepClock::begin(const Pass& pass) {
  Work& work = work_[pass.rows == 1 ? 0 : 1];
  const std::int64_t end = pass.position + pass.rows;
  count(work.all, pass.rows, end);
  count(work.of_logits, pass.logit_rows, end);
}

// Of a pass, the last so many rows ahead of position `end`.
void StepClock::count(Share& share, std::int64_t rows, std::int64_t end) const {
  if (rows == 0) return;
  ++share.passes;
  share.rows += rows;
  for (std::int64_t seen = end - rows + 1; seen <= end; ++seen) share.pairs += window_ == 0 ? seen : std::min(seen, window_);
  share.keys += window_ == 0 ? end : std::min(end, window_ + rows - 1);
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
