// Times kernels, as Google Benchmark benchmarks: `assay bench` and assay_benchmarks both come from here.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/interop/remote/remote_runner.h"
#include "harness/verdict/bench/roof.h"
#include "harness/verdict/bench/rotation.h"
#include "harness/verdict/bench/subject.h"
#include "harness/verdict/checks.h"
#include "harness/verdict/variant.h"

namespace assay::bench {

// One variant at one shape. A plugin's is timed beside the best of ours that this CPU runs, call by call in the same rounds.
struct BenchItem {
  const Op* op = nullptr;
  Variant variant;
  Params params;
  Temperature temperature = Temperature::cold;
  std::optional<std::uint64_t> seed = {};  // of the calls whose outputs are recorded; none: one of chance
  std::string name() const;                // "matvec_f16_avx2/n=3072,k=1024/cold"
};

// True if the variant has passed its parity check; else `why` says what to do. Asked once a benchmark, when it runs.
using Gate = std::function<bool(const Op& op, const Variant& variant, std::string& why)>;

struct BenchResult;

struct BenchOptions {
  Gate gate;                                     // empty: nothing is timed
  std::optional<RunnerOptions> runner = {};      // of plugins' kernels
  std::optional<RunnerOptions> old_runner = {};  // of an older plugin's, which theirs are timed in turn with
  std::vector<RemoteKernel> old_kernels = {};    // that it offers
  // Who is timed in the place of foreign variants, where no plugin has them; `runner` is then that of ours beside it.
  std::function<std::unique_ptr<Subject>(const BenchItem&)> subject = {};
  std::function<bool(const BenchResult&)> enough = {};  // asked after each run whether it was the last; empty: one run
  std::function<bool()> stop = {};                      // asked before each run: none is begun any more
  Checks checks = Checks::all();                        // that what they wrote while they were timed must pass
  int rounds = 31;                                      // roofs and kernel in turn; medians are reported
  double round_seconds = 0.002;                         // at least this much of the kernel in a round
  double most_seconds = 1.5;                            // fewer rounds, but three, where they would take longer than this
};

// One run: fresh memory and, where there may be several, a process of its own.
struct Reading {
  double seconds = 0;
  std::optional<double> read_share;     // of the roof, measured in the same rounds
  std::optional<double> compute_share;  // likewise
  double speed = 0;                     // against the rival, likewise; 0: none
};

struct BenchResult {
  std::string name;
  std::string op;
  std::string variant;
  std::string shape;
  Temperature temperature = Temperature::cold;
  Traits traits = {};   // that a plugin's kernel declares
  std::string refusal;  // why it was not timed; empty: it was
  std::string failure;  // "timed: ...", "impossible: ...": what was timed is wrong, so that no time counts; empty: nothing

  std::size_t rounds = 0;
  double seconds =
      0;  // a call: the median of the rounds, in the processor time of the thread, of a plugin's kernel of all its threads
  double wall_seconds = 0;  // of a plugin's kernel
  int threads = 1;          // likewise: seen while it was timed
  std::uint64_t seed = 0;   // likewise: of a few calls whose outputs have the digest `outputs`
  std::string outputs;
  Cost cost;
  std::optional<Rounds::Ratio> read;     // cold only: a warm kernel need not read memory at all
  std::optional<Rounds::Ratio> compute;  // against the FMA peak, or VNNI's for products of codes
  std::string rival;                     // of a plugin's kernel: ours that it was timed beside
  double rival_seconds = 0;
  double speed = 0;               // against it: the median of the rounds' ratios, above 1 faster
  bool against_old = false;       // the rival is the same kernel of an older plugin
  std::vector<Reading> readings;  // a run each; the figures above are their medians
  bool timed() const { return refusal.empty() && failure.empty(); }
  bool roof_suspect() const;  // more than 100 per cent: the roof was measured too low
};

// A time that beats the best readings of all rounds (GB/s, Gop/s), in words; empty: it may be. Whoever is that fast has not done the work, or
// the call was not cold.
std::string impossible(const BenchResult& result, double most_read, double most_compute);

// Those of the op's variants that this CPU runs (or those of `isa`), at `shape` (complete), or, without one, at each of the op's own
// shapes.
std::vector<BenchItem> bench_items(const Op& op, const std::vector<Variant>& variants, std::optional<Isa> isa,
                                   const std::optional<Params>& shape, const std::vector<Temperature>& temperatures);

// Registers the items with Google Benchmark. Each benchmark that runs appends to `results`, if that is given.
void register_benchmarks(const std::vector<BenchItem>& items, const BenchOptions& options,
                         std::shared_ptr<std::vector<BenchResult>> results = nullptr);

// Registers and runs the items; `progress` is told of each as it is done.
std::vector<BenchResult> run_benchmarks(const std::vector<BenchItem>& items, const BenchOptions& options,
                                        const std::function<void(const BenchResult&)>& progress = {});

}  // namespace assay::bench
