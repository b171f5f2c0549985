// A plugin's kernel on the clock (docs/cheating.md): in a process of its own, with fresh data in every call. What the timed calls wrote is
// held to the same calls, untimed and in another order, of another process; then to those of our kernel. The call that is farthest from them
// is held to the reference, and so are some that chance chooses.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/verdict/bench/ring.h"
#include "harness/verdict/bench/subject.h"
#include "harness/verdict/executor.h"

namespace assay::bench {

std::uint64_t random_seed();
// As they run ours.
RunnerOptions without_plugins(RunnerOptions options);
// The variant of an op that this CPU does best with.
std::string our_best(const Op& op);

class ForeignTimer final : public Subject {
 public:
  // `trusted`: one of ours, whose outputs nobody looks at.
  ForeignTimer(const Op& op, const Params& params, Temperature temperature, TimedKernel kernel, const RunnerOptions& options,
               double round_seconds, bool trusted = false);

  bool evicts() const override { return timed_.evicts(); }
  // Throws TimedFailure too where what it wrote is not what it writes untimed.
  CallTime round() override;
  std::string digest(std::uint64_t seed) override;
  // Holds what was kept of the rounds to the reference. Where calls took uneven times there are as many rounds again.
  std::string judge(const Checks& checks) override;

 private:
  struct Sample {
    double distance = -1;  // from what our kernel wrote, as distance_of() has it
    std::uint64_t seed = 0;
    std::uint64_t laps = 1;
    std::vector<Array> outputs = {};
  };
  // What runs where nobody takes its time: which of the batch's calls, one after the other, their seeds, and what lies in outputs before.
  struct Untimed {
    std::vector<std::size_t> order;
    std::vector<std::uint64_t> seeds;
    std::uint64_t poison;
  };
  // What the last batch wrote, call by call; its slots get fresh data.
  void hold_outputs_and_refill();
  void hold_to_untimed(const std::vector<std::vector<Array>>& outputs, const Untimed& untimed);
  void hold_a_lap();
  void hold_to_ours(const std::vector<std::vector<Array>>& timed, std::uint64_t laps);
  Untimed in_another_order();
  void run_untimed(const Untimed& untimed, std::uint64_t laps);
  double calls_of_batch() const;
  bool is_uneven(double middle) const;
  std::string unevenness();
  void draw(std::uint64_t seed, std::uint64_t laps, const std::vector<Array>& outputs);

  const Op& op_;
  TimedKernel kernel_;
  double round_seconds_;
  TimedCase timed_;
  Ring ring_;
  std::optional<TimedRunner> untimed_;
  std::optional<TimedRunner> ours_;
  double call_seconds_ = 0;
  std::vector<double> rounds_;  // seconds of a call
  double all_seconds_ = 0;      // of all calls after the first round
  double all_calls_ = 0;
  std::uint64_t batches_ = 0;
  std::uint64_t coin_;
  std::uint64_t calls_ = 0;
  std::size_t most_drawn_;
  std::vector<Sample> drawn_;  // of all calls some, by chance
  Sample farthest_;            // of all calls
};

}  // namespace assay::bench
