// One pass over the steps, by several threads: each runs its part of every step, and waits where the plan says so. A step that is
// watched is run by itself, and the observer is called from the caller's thread while the others have nothing to do.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <span>
#include <vector>

#include "engine/run/observer.h"
#include "engine/run/step_calls.h"
#include "engine/run/step_clock.h"
#include "engine/threads.h"

namespace assay {

class PassRun {
 public:
  // `end`: steps to run. `observed`: room for a flag a step. `clock` may be null.
  PassRun(const Plan& plan, StepCalls& calls, const Pass& pass, std::size_t end, Observer* observer,
          std::span<std::uint8_t> observed, KvCache& cache, KvCache::Sequence sequence, StepClock* clock);

  // Throws EngineError where a step refuses, and what the observer or a reference threw.
  // `alone`: by the caller's thread, whatever the team. It also goes on alone from where the others keep it waiting.
  void run(Team& team, bool alone);

 private:
  void run_stretch(std::size_t begin, std::size_t end);
  void run_part(int part);
  void run_step(std::size_t step, int part, int parts);
  bool crowded() const;
  template <class Function>
  void guarded(Function function);
  StepClock::Time time() const { return clock_ != nullptr ? StepClock::now() : StepClock::Time(); }
  void look(std::size_t step, bool before);
  RowsView view(const Step& step, const Operand& operand, const std::uint8_t* data) const;

  const Plan& plan_;
  StepCalls& calls_;
  const Pass& pass_;
  std::size_t end_;
  Observer* observer_;
  std::span<std::uint8_t> observed_;
  KvCache& cache_;
  KvCache::Sequence sequence_;
  StepClock* clock_;
  std::vector<std::uint8_t> stored_;  // rows read back from the cache, for the observer
  std::size_t stretch_begin_ = 0;     // the steps under way
  std::size_t stretch_end_ = 0;
  Team* team_ = nullptr;
  int parts_ = 1;
  std::chrono::steady_clock::time_point began_;
  std::chrono::nanoseconds slept_{0};    // the caller, before
  std::atomic<std::size_t> alone_from_;  // this step

  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

}  // namespace assay
