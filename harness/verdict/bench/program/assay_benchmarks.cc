// The benchmarks of `assay bench` as a plain Google Benchmark program: --benchmark_filter and its other options.
#include <benchmark/benchmark.h>

#include "harness/verdict/bench/gate.h"
#include "harness/version.h"

int main(int argc, char** argv) {
  using namespace assay;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("assay", kVersion);
  benchmark::AddCustomContext("commit", kCommit);
  benchmark::AddCustomContext("compiler", kCompiler);
  benchmark::AddCustomContext("isas", supported_isa_names());

  bench::BenchOptions options;
  options.gate = bench::parity_gate();
  for (const Op* op : ops()) {
    const std::vector temperatures{bench::Temperature::cold, bench::Temperature::warm};
    bench::register_benchmarks(bench::bench_items(*op, variants_of(*op), {}, {}, temperatures), options);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
