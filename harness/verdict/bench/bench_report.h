// What benchmarks found: a table for people and JSON for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/reports/style.h"
#include "harness/verdict/bench/bench.h"

namespace assay::bench {

std::string bench_table(const std::vector<BenchResult>& results, const Style& style);

// In the layout of Google Benchmark's own JSON ("context", "benchmarks" with name, real_time, time_unit and
// counters), so that either is a baseline.
nlohmann::ordered_json bench_json(const std::vector<BenchResult>& results);

}  // namespace assay::bench
