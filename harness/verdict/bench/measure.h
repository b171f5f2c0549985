// One run of one benchmark: fresh memory, and of a plugin's kernel fresh processes.
#pragma once

#include "harness/verdict/bench/bench.h"

namespace assay::bench {

// Fills in what was timed. Throws TimedFailure where a timed call is wrong, std::exception where the kernel cannot be timed.
void measure_run(const BenchItem& item, const BenchOptions& options, BenchResult& result);

}  // namespace assay::bench
