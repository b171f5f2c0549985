#include "harness/verdict/bench/measure.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include "harness/verdict/bench/foreign.h"
#include "harness/verdict/clock.h"

namespace assay::bench {
namespace {

constexpr int kLeastRounds = 3;  // in the first a library may set itself up: one round alone would take that for its speed

// Made when the first benchmark runs: a list of names needs no roofs.
Roofs& shared_roofs() {
  static Roofs roofs;
  return roofs;
}

// The peak of the call's arithmetic: our kernel's is its ISA's, a plugin's, which may use what it does not name, this CPU's. None where it
// does none, or of a kind that has no peak there.
std::optional<Peak> peak_of(const Cost& cost, const Variant& variant) {
  if (cost.int8_ops > 0) return variant.foreign ? best_peak(true) : int8_peak(variant.isa);
  if (cost.flops == 0) return std::nullopt;
  return variant.foreign ? best_peak(false) : fma_peak(variant.isa);
}

// One of our own kernels, in this process.
class OwnTimer final : public Subject {
 public:
  OwnTimer(const BenchItem& item, const BenchOptions& options)
      : options_(options), rotation_(*item.op, item.variant, item.params, item.temperature) {
    const double start = thread_seconds();
    status_ = rotation_.run();
    set_calls(thread_seconds() - start);
  }
  bool evicts() const override { return rotation_.cold_calls() > 0; }
  // The first call also met cold instructions and a low clock: the latest round corrects their number.
  CallTime round() override {
    const double start = thread_seconds();
    for (std::int64_t i = 0; i < calls_; ++i) benchmark::DoNotOptimize(rotation_.run());
    const double seconds = (thread_seconds() - start) / static_cast<double>(calls_);
    set_calls(seconds);
    return {.cpu = seconds};
  }
  AssayStatus status() const { return status_; }

 private:
  void set_calls(double seconds) {
    calls_ = static_cast<std::int64_t>(std::ceil(options_.round_seconds / std::max(seconds, 1e-9)));
    if (const auto cold = static_cast<std::int64_t>(rotation_.cold_calls()); cold > 0) calls_ = std::min(calls_, cold);
  }

  const BenchOptions& options_;
  Rotation rotation_;
  AssayStatus status_ = ASSAY_OK;
  std::int64_t calls_ = 1;
};

std::unique_ptr<Subject> subject_of(const BenchItem& item, const BenchOptions& options) {
  if (item.variant.foreign && options.subject) return options.subject(item);
  if (item.variant.foreign) {
    const TimedKernel kernel{item.variant.name, item.variant.packed_tensor, item.variant.canonical, item.variant.traits};
    return std::make_unique<ForeignTimer>(*item.op, item.params, item.temperature, kernel, options.runner.value(),
                                          options.round_seconds);
  }
  auto own = std::make_unique<OwnTimer>(item, options);
  if (own->status() != ASSAY_OK)
    throw std::runtime_error("the kernel refused its input (status " + std::to_string(static_cast<int>(own->status())) + ")");
  return own;
}

// Who is timed in a runner of its own, round by round beside a plugin's kernel: the same kernel of an older plugin, where one is named and
// has it, else our best variant of the op that this CPU runs.
class Rival {
 public:
  Rival(const BenchItem& item, const BenchOptions& options)
      : old_(older(item, options)),
        name_(old_ != nullptr ? old_->variant : our_best(*item.op)),
        timer_(*item.op, item.params, item.temperature,
               old_ != nullptr ? TimedKernel{name_, old_->packed_tensor, old_->canonical, old_->traits}
                               : TimedKernel{name_, "", true, {}},
               old_ != nullptr ? *options.old_runner : without_plugins(*options.runner), options.round_seconds, old_ == nullptr) {
  }

  void round(double foreign_seconds) {
    try {
      seconds_.push_back(timer_.round().cpu);
    } catch (const TimedFailure& failure) {
      throw TimedFailure(whose(failure.what()));
    }
    const double seconds = seconds_.back();
    ratios_.push_back(seconds / foreign_seconds);
  }

  // Empty if what it wrote is right; one of ours is.
  std::string judge(const Checks& checks) {
    const std::string wrong = old_ != nullptr ? timer_.judge(checks) : "";
    return wrong.empty() ? "" : whose(wrong);
  }

  void report(BenchResult& result) const {
    result.rival = name_;
    result.against_old = old_ != nullptr;
    result.rival_seconds = median(seconds_);
    result.speed = median(ratios_);
  }

 private:
  // "mine:rms_norm" and "mine-2:rms_norm" are one kernel.
  static const RemoteKernel* older(const BenchItem& item, const BenchOptions& options) {
    const auto own_name = [](const std::string& variant) { return variant.substr(variant.find(':') + 1); };
    for (const RemoteKernel& one : options.old_kernels) {
      if (one.op == item.op->name && own_name(one.variant) == own_name(item.variant.name)) return &one;
    }
    return nullptr;
  }

  std::string whose(const std::string& failure) const {
    return (old_ != nullptr ? "the baseline's " : "") + name_ + ": " + failure;
  }

  const RemoteKernel* old_;
  std::string name_;
  ForeignTimer timer_;
  std::vector<double> seconds_;
  std::vector<double> ratios_;
};

}  // namespace

void measure_run(const BenchItem& item, const BenchOptions& options, BenchResult& result) {
  const std::unique_ptr<Subject> subject = subject_of(item, options);
  result.cost = cost_of(*item.op, item.params);
  const bool reads = item.temperature == Temperature::cold && result.cost.bytes > 0;
  const std::optional<Peak> peak = peak_of(result.cost, item.variant);
  Roofs& roofs = shared_roofs();

  std::optional<Rival> rival;
  if (item.variant.foreign) rival.emplace(item, options);
  Rounds rounds(roofs);
  std::vector<double> walls;
  const auto began = std::chrono::steady_clock::now();
  for (int round = 0; round < options.rounds; ++round) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;
    if (round >= kLeastRounds && spent.count() > options.most_seconds) break;
    if (reads) rounds.read_roofs();
    if (peak) rounds.compute_roof(*peak);
    if (subject->evicts()) roofs.evict();
    const CallTime time = subject->round();
    rounds.kernel(time.cpu);
    walls.push_back(time.wall);
    result.threads = std::max(result.threads, time.threads);
    if (!rival) continue;
    if (subject->evicts()) roofs.evict();
    rival->round(time.cpu);
  }
  result.rounds = rounds.size();
  result.seconds = rounds.seconds();
  result.wall_seconds = median(walls);
  if (reads) result.read = rounds.of_read(result.cost.bytes);
  if (peak) result.compute = rounds.of_compute(result.cost.operations());
  if (rival) rival->report(result);
  if (const std::string wrong = subject->judge(options.checks); !wrong.empty()) throw TimedFailure(wrong);
  if (!item.variant.foreign) return;
  if (const std::string wrong = rival->judge(options.checks); !wrong.empty()) throw TimedFailure(wrong);
  const auto too_fast = [&] { return impossible(result, rounds.most_read(), rounds.most_compute()); };
  constexpr int kMoreReadings = 50;  // the roof may have been disturbed
  for (int i = 0; i < kMoreReadings && !too_fast().empty(); ++i) {
    if (reads) rounds.read_roofs();
    if (peak) rounds.compute_roof(*peak);
  }
  result.failure = too_fast();
  result.seed = item.seed.value_or(random_seed());
  result.outputs = subject->digest(result.seed);
}

}  // namespace assay::bench
