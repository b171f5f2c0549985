#include "harness/verdict/bench/bench.h"

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <system_error>
#include <utility>

#include "harness/interop/remote/timed_runner.h"
#include "harness/verdict/bench/measure.h"

namespace assay::bench {
namespace {

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

bool stopped(const BenchOptions& options) {
  return options.stop && options.stop();
}

BenchResult run_here(const BenchItem& item, const BenchOptions& options) {
  BenchResult run = described(item);
  measure_run(item, options, run);
  return run;
}

Reading reading_of(const BenchResult& run) {
  const auto share = [](const std::optional<Rounds::Ratio>& ratio) { return ratio ? std::optional(ratio->share) : std::nullopt; };
  return {run.seconds, share(run.read), share(run.compute), run.speed};
}

// One of our kernels in a process of its own. What a process keeps as long as it lives, such as the memory that it got, makes its runs alike.
Reading read_apart(const BenchItem& item, const BenchOptions& options) {
  int ends[2];
  const pid_t child = pipe2(ends, O_CLOEXEC) == 0 ? fork() : -1;
  if (child < 0) throw std::system_error(errno, std::generic_category(), "a process for a run");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const Reading reading = [&]() noexcept { return reading_of(run_here(item, options)); }();
    _exit(write(ends[1], &reading, sizeof reading) == sizeof reading ? 0 : 1);
  }
  close(ends[1]);
  Reading reading;
  ssize_t got = 0;
  while ((got = read(ends[0], &reading, sizeof reading)) < 0 && errno == EINTR) {  // Ctrl-C: the run is ended, and none begun
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (got != sizeof reading) throw std::runtime_error(fmt::format("the process of a run ended early (wait status {})", status));
  return reading;
}

// `first`, but for what its reading has.
BenchResult run_apart(const BenchItem& item, const BenchOptions& options, const BenchResult& first) {
  BenchResult run = first;
  const Reading reading = read_apart(item, options);
  run.seconds = reading.seconds;
  if (run.read) run.read->share = reading.read_share.value();
  if (run.compute) run.compute->share = reading.compute_share.value();
  return run;
}

// Runs until they are enough. The figures are those of the run in the middle. Plugins' kernels have processes of their own in any case; of ours
// a run before the others counts for nothing: it meets memory that the system has just got, and the roofs are made then.
void measure(const BenchItem& item, const BenchOptions& options, BenchResult& result) {
  result = run_here(item, options);
  if (!result.failure.empty()) return;
  const bool apart = options.enough && !item.variant.foreign;
  const BenchResult first = result;
  std::vector<BenchResult> runs;
  std::vector<Reading> readings;
  do {
    if (apart)
      result = run_apart(item, options, first);
    else if (!runs.empty())
      result = run_here(item, options);
    if (!result.failure.empty()) return;
    readings.push_back(reading_of(result));
    runs.push_back(std::move(result));
    std::ranges::sort(runs, {}, &BenchResult::seconds);
    result = runs[runs.size() / 2];
    result.readings = readings;
  } while (options.enough && !options.enough(result) && !stopped(options));
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
        if (stopped(options)) return state.SkipWithError("interrupted");
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
