// The calls of a kernel that is timed, in slots one behind the other, and what each slot holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/interop/remote/timed_runner.h"
#include "harness/verdict/bench/subject.h"
#include "harness/verdict/bench/timed_case.h"
#include "harness/verdict/variant.h"

namespace assay::bench {

// Who is timed: a plugin's kernel, or one of ours beside it.
struct TimedKernel {
  std::string variant;  // mine:rms_norm, rms_norm_avx2
  std::string packed_tensor;
  bool canonical = true;
  Traits traits = {};
};

class Ring {
 public:
  Ring(const TimedCase& timed, const TimedKernel& kernel, const RunnerOptions& options, Temperature temperature,
       std::uint64_t seed);

  // About `seconds` of calls of so many each, at most a few times as many as before; one call if that is not known. What is not theirs is
  // taken off: what it costs `ours`, whose kernel is not the suspect. Throws TimedFailure.
  CallTime run(double seconds, double call_seconds, TimedRunner& ours);
  // Fresh data for the slots that it used, and for all of them; what is warm, and all but what is packed, comes before each run anyway.
  void refill();
  void renew();
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

}  // namespace assay::bench
