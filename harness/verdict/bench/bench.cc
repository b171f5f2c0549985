#include "harness/verdict/bench/bench.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <utility>

#include "harness/verdict/bench/foreign.h"
#include "harness/verdict/clock.h"

namespace assay::bench {
namespace {

// Made when the first benchmark runs: a list of names needs no roofs.
Roofs& shared_roofs() {
  static Roofs roofs;
  return roofs;
}

BenchResult described(const BenchItem& item) {
  BenchResult result;
  result.name = item.name();
  result.op = item.op->name;
  result.variant = item.variant.name;
  result.shape = item.params.to_string();
  result.temperature = item.temperature;
  result.traits = item.variant.traits;
  return result;
}

// Why the item must not be timed; empty: it may.
std::string refusal(const BenchItem& item, const BenchOptions& options) {
  if (!isa_supported(item.variant.isa)) return "this CPU does not run " + std::string(isa_name(item.variant.isa));
  std::string why = "no parity check was given";
  if (!options.gate || !options.gate(*item.op, item.variant, why)) return "has not passed: " + why;
  return {};
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
    const TimedKernel kernel{item.variant.name, item.variant.packed_tensor, item.variant.canonical};
    return std::make_unique<ForeignTimer>(*item.op, item.params, item.temperature, kernel, options.runner.value(),
                                          options.round_seconds);
  }
  auto own = std::make_unique<OwnTimer>(item, options);
  if (own->status() != ASSAY_OK)
    throw std::runtime_error("the kernel refused its input (status " + std::to_string(static_cast<int>(own->status())) + ")");
  return own;
}

// Our best variant of the op that this CPU runs, in a runner too, round by round beside a plugin's kernel.
class Rival {
 public:
  Rival(const BenchItem& item, const BenchOptions& options)
      : name_(our_best(*item.op)),
        timer_(*item.op, item.params, item.temperature, {.variant = name_, .packed_tensor = ""}, without_plugins(*options.runner),
               options.round_seconds, true) {}

  void round(double foreign_seconds) {
    const double seconds = timer_.round().cpu;
    seconds_.push_back(seconds);
    ratios_.push_back(seconds / foreign_seconds);
  }

  void report(BenchResult& result) const {
    result.rival = name_;
    result.rival_seconds = median(seconds_);
    result.speed = median(ratios_);
  }

 private:
  std::string name_;
  ForeignTimer timer_;
  std::vector<double> seconds_;
  std::vector<double> ratios_;
};

void measure(const BenchItem& item, const BenchOptions& options, BenchResult& result) {
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
    if (round > 0 && spent.count() > options.most_seconds) break;
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

BenchResult bench_one(const BenchItem& item, const BenchOptions& options) {
  BenchResult result = described(item);
  result.refusal = refusal(item, options);
  if (!result.refusal.empty()) return result;
  try {
    measure(item, options, result);
  } catch (const TimedFailure& failure) {
    result.failure = std::string("timed: ") + failure.what();
  } catch (const std::exception& error) {
    result.refusal = error.what();
  }
  return result;
}

// The one iteration is all the rounds and its time their median call: Google Benchmark itself would give means.
void report_to(benchmark::State& state, const BenchResult& result) {
  if (!result.timed()) {
    state.SkipWithError((result.refusal + result.failure).c_str());
    return;
  }
  state.SetIterationTime(result.seconds);
  state.counters["rounds"] = static_cast<double>(result.rounds);
  state.counters["bytes_per_second"] = result.cost.bytes / result.seconds;
  if (result.cost.operations() > 0) state.counters["operations_per_second"] = result.cost.operations() / result.seconds;
  if (result.read) state.counters["read_percent"] = 100 * result.read->share;
  if (result.compute) state.counters["compute_percent"] = 100 * result.compute->share;
  if (result.roof_suspect()) state.SetLabel("above 100 %: the roof is suspect");
}

class QuietReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

using Done = std::function<void(const BenchResult&)>;

void register_all(const std::vector<BenchItem>& items, const BenchOptions& options, const Done& done) {
  for (const BenchItem& item : items) {
    const auto body = [item, options, done](benchmark::State& state) {
      for ([[maybe_unused]] auto _ : state) {
        const BenchResult result = bench_one(item, options);
        report_to(state, result);
        if (done) done(result);
      }
    };
    benchmark::RegisterBenchmark(item.name().c_str(), body)->UseManualTime()->Iterations(1)->Unit(benchmark::kMicrosecond);
  }
}

}  // namespace

std::string impossible(const BenchResult& result, double most_read, double most_compute) {
  constexpr double kMost = 1.05;
  constexpr double kMostCompute = 1.5 * kMost;  // additions have pipes of their own beside the peak's multiply-adds
  const double bytes = 1e-9 * result.cost.bytes / result.seconds;
  const double operations = 1e-9 * result.cost.operations() / result.seconds;
  if (result.read && bytes > kMost * most_read) {
    return fmt::format(
        "impossible: it would have read {:.1f} GB/s; the fastest loop of this machine reads {:.1f} at most, {:.1f} in the median",
        bytes, most_read, result.read->roof);
  }
  if (result.compute && operations > kMostCompute * most_compute) {
    return fmt::format("impossible: {:.1f} Gop/s; the peak is {:.1f} at most, {:.1f} in the median ({})", operations,
                       most_compute, result.compute->roof, result.compute->measured);
  }
  return {};
}

std::string BenchItem::name() const {
  return variant.name + "/" + params.to_string() + (temperature == Temperature::cold ? "/cold" : "/warm");
}

bool BenchResult::roof_suspect() const {
  return (read && read->share > 1) || (compute && compute->share > 1);
}

std::vector<BenchItem> bench_items(const Op& op, const std::vector<Variant>& variants, std::optional<Isa> isa,
                                   const std::optional<Params>& shape, const std::vector<Temperature>& temperatures) {
  std::vector<BenchItem> items;
  for (const Params& params : shape ? std::vector<Params>{*shape} : op.family->bench_params(op)) {
    for (const Temperature temperature : temperatures) {
      for (const Variant& variant : variants) {
        if (isa ? variant.isa == *isa : isa_selectable(variant.isa)) items.push_back({&op, variant, params, temperature});
      }
    }
  }
  return items;
}

void register_benchmarks(const std::vector<BenchItem>& items, const BenchOptions& options,
                         std::shared_ptr<std::vector<BenchResult>> results) {
  register_all(items, options, [results = std::move(results)](const BenchResult& result) {
    if (results) results->push_back(result);
  });
}

std::vector<BenchResult> run_benchmarks(const std::vector<BenchItem>& items, const BenchOptions& options,
                                        const std::function<void(const BenchResult&)>& progress) {
  std::vector<BenchResult> results;
  register_all(items, options, [&](const BenchResult& result) {
    results.push_back(result);
    if (progress) progress(result);
  });
  QuietReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::ClearRegisteredBenchmarks();
  return results;
}

}  // namespace assay::bench
