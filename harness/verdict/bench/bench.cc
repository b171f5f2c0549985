#include "harness/verdict/bench/bench.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

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

double seconds_per_call(Rotation& rotation, std::int64_t calls) {
  const double start = thread_seconds();
  for (std::int64_t i = 0; i < calls; ++i) benchmark::DoNotOptimize(rotation.run());
  return (thread_seconds() - start) / static_cast<double>(calls);
}

std::int64_t calls_in_round(const BenchOptions& options, const Rotation& rotation, double seconds) {
  const auto calls = static_cast<std::int64_t>(std::ceil(options.round_seconds / std::max(seconds, 1e-9)));
  const auto cold = static_cast<std::int64_t>(rotation.cold_calls());
  return cold > 0 ? std::min(calls, cold) : calls;
}

// The peak of the call's arithmetic: our kernel's is its ISA's, a plugin's, which may use what it does not name, this CPU's. None where it
// does none, or of a kind that has no peak there.
std::optional<Peak> peak_of(const Cost& cost, const Variant& variant) {
  if (cost.int8_ops > 0) return variant.foreign ? best_peak(true) : int8_peak(variant.isa);
  if (cost.flops == 0) return std::nullopt;
  return variant.foreign ? best_peak(false) : fma_peak(variant.isa);
}

// Our best variant of the op that this CPU runs, on memory of its own, round by round beside a plugin's kernel.
class Rival {
 public:
  Rival(const BenchItem& item, const BenchOptions& options)
      : options_(options), kernel_(best(*item.op)), rotation_(*item.op, kernel_, item.params, item.temperature) {
    const double start = thread_seconds();
    rotation_.run();
    calls_ = calls_in_round(options_, rotation_, thread_seconds() - start);
  }

  void round(double foreign_seconds) {
    const double seconds = seconds_per_call(rotation_, calls_);
    calls_ = calls_in_round(options_, rotation_, seconds);
    seconds_.push_back(seconds);
    ratios_.push_back(seconds / foreign_seconds);
  }

  void report(BenchResult& result) const {
    result.rival = kernel_.name;
    result.rival_seconds = median(seconds_);
    result.speed = median(ratios_);
  }

 private:
  static Variant best(const Op& op) {
    const AnyKernel& kernel = select_kernel(*op.table, std::nullopt);
    return {kernel.name, kernel.isa, kernel.run};
  }

  const BenchOptions& options_;
  Variant kernel_;
  Rotation rotation_;
  std::int64_t calls_ = 1;
  std::vector<double> seconds_;
  std::vector<double> ratios_;
};

void measure(const BenchItem& item, const BenchOptions& options, BenchResult& result) {
  Rotation rotation(*item.op, item.variant, item.params, item.temperature);
  const double start = thread_seconds();
  if (const AssayStatus status = rotation.run(); status != ASSAY_OK) {
    result.refusal = "the kernel refused its input (status " + std::to_string(static_cast<int>(status)) + ")";
    return;
  }
  const double first = thread_seconds() - start;
  result.cost = cost_of(*item.op, item.params);
  const bool reads = item.temperature == Temperature::cold && result.cost.bytes > 0;
  const std::optional<Peak> peak = peak_of(result.cost, item.variant);
  Roofs& roofs = shared_roofs();

  std::optional<Rival> rival;
  if (item.variant.foreign) rival.emplace(item, options);
  Rounds rounds(roofs);
  std::int64_t calls = calls_in_round(options, rotation, first);
  const double began = thread_seconds();
  for (int round = 0; round < options.rounds; ++round) {
    if (round > 0 && thread_seconds() - began > options.most_seconds) break;
    if (reads) rounds.read_roofs();
    if (peak) rounds.compute_roof(*peak);
    if (rotation.cold_calls() > 0) roofs.evict();
    const bool too_long = first > options.most_seconds;  // then that call is the one round
    const double seconds = too_long ? first : seconds_per_call(rotation, calls);
    rounds.kernel(seconds);
    if (rival) {
      if (rotation.cold_calls() > 0) roofs.evict();
      rival->round(seconds);
    }
    if (too_long) break;
    // The first call also met cold instructions and a low clock: correct the number by the latest round.
    calls = calls_in_round(options, rotation, seconds);
  }
  result.rounds = rounds.size();
  result.seconds = rounds.seconds();
  if (reads) result.read = rounds.of_read(result.cost.bytes);
  if (peak) result.compute = rounds.of_compute(result.cost.operations());
  if (rival) rival->report(result);
}

BenchResult bench_one(const BenchItem& item, const BenchOptions& options) {
  BenchResult result = described(item);
  result.refusal = refusal(item, options);
  if (!result.refusal.empty()) return result;
  try {
    measure(item, options, result);
  } catch (const std::exception& error) {
    result.refusal = error.what();
  }
  return result;
}

// The one iteration is all the rounds and its time their median call: Google Benchmark itself would give means.
void report_to(benchmark::State& state, const BenchResult& result) {
  if (!result.refusal.empty()) {
    state.SkipWithError(result.refusal.c_str());
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
