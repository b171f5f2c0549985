// A plugin's kernel on the clock (docs/cheating.md): in a process of its own, with fresh data in every call. What the timed calls wrote is
// held to the same calls, untimed and in another order, of another process; then to those of our kernel. The call that is farthest from them
// is held to the reference, and so are some that chance chooses.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/interop/remote/timed_runner.h"
#include "harness/verdict/bench/subject.h"
#include "harness/verdict/bench/timed_case.h"
#include "harness/verdict/executor.h"

namespace assay::bench {

// Who is timed: a plugin's kernel, or one of ours beside it.
struct TimedKernel {
  std::string variant;  // mine:rms_norm, rms_norm_avx2
  std::string packed_tensor;
  bool canonical = true;
  Traits traits = {};
};

std::uint64_t random_seed();
// As they run ours.
RunnerOptions without_plugins(RunnerOptions options);
// The variant of an op that this CPU does best with.
std::string our_best(const Op& op);

// The ring of a kernel, with what each slot holds.
class Ring {
 public:
  Ring(const TimedCase& timed, const TimedKernel& kernel, const RunnerOptions& options, Temperature temperature,
       std::uint64_t seed);

  // About `seconds` of calls of so many each, or of one if that is not known. What is not theirs is taken off: what it costs `ours`, whose
  // kernel is not the suspect. Throws TimedFailure.
  CallTime run(double seconds, double call_seconds, TimedRunner& ours);
  // Fresh data for the slots that it used.
  void refill();
  std::uint64_t most_calls() const { return seeds_.size() - 1; }
  // Of the last run.
  const std::vector<std::uint64_t>& seeds() const { return used_; }
  std::uint64_t laps() const { return laps_; }
  TimedRunner& runner() { return runner_; }

 private:
  void fill(std::uint64_t first, std::uint64_t count);
  wire::FillRequest request(wire::FillRequest::What what, std::uint64_t first, std::uint64_t count) const;

  const TimedCase& timed_;
  bool packs_;
  Temperature temperature_;
  TimedRunner runner_;
  std::uint64_t next_seed_;
  std::uint64_t poison_;
  std::vector<std::uint64_t> seeds_;  // of the slots
  std::uint64_t next_ = 0;
  std::vector<std::uint64_t> used_;
  std::uint64_t laps_ = 1;
  struct {
    std::uint64_t calls = 0;
    double cpu = 0;
    double wall = 0;
  } crossing_;  // from the host to the runner and back, with so many calls left out
};

class ForeignTimer final : public Subject {
 public:
  // `trusted`: one of ours, whose outputs nobody looks at.
  ForeignTimer(const Op& op, const Params& params, Temperature temperature, TimedKernel kernel, const RunnerOptions& options,
               double round_seconds, bool trusted = false);

  bool evicts() const override { return timed_.evicts(); }
  // Throws TimedFailure too where what it wrote is not what it writes untimed.
  CallTime round() override;
  std::string digest(std::uint64_t seed) override;
  // Holds what was kept of the rounds to the reference.
  std::string judge(const Checks& checks) const override;

 private:
  struct Sample {
    double distance = -1;  // from what our kernel wrote, as distance_of() has it
    std::uint64_t seed = 0;
    std::uint64_t laps = 1;
    std::vector<Array> outputs = {};
  };
  // What the last batch wrote, call by call.
  void hold_outputs();
  void hold_to_untimed(const std::vector<std::vector<Array>>& outputs);
  void hold_to_ours(std::vector<std::vector<Array>> timed);
  void draw(std::uint64_t seed, const std::vector<Array>& outputs);

  const Op& op_;
  TimedKernel kernel_;
  double round_seconds_;
  TimedCase timed_;
  Ring ring_;
  std::optional<TimedRunner> untimed_;
  std::optional<TimedRunner> ours_;
  double call_seconds_ = 0;
  std::uint64_t batches_ = 0;
  std::uint64_t coin_;
  std::uint64_t calls_ = 0;
  std::size_t most_drawn_;
  std::vector<Sample> drawn_;  // of all calls some, by chance
  Sample farthest_;            // of all calls
};

}  // namespace assay::bench
