// What benchmarks found: a table for people, JSON for programs, and the change since an older JSON.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/reports/style.h"
#include "harness/verdict/bench/bench.h"

namespace assay::bench {

std::string bench_table(const std::vector<BenchResult>& results, const Style& style);

// In the layout of Google Benchmark's own JSON ("context", "benchmarks" with name, real_time, time_unit and
// counters), so that either is a baseline.
nlohmann::ordered_json bench_json(const std::vector<BenchResult>& results);

// An older JSON, by benchmark. Throws std::runtime_error that names the file and what was expected.
struct BaselineEntry {
  double seconds = 0;
  std::optional<double> read_share;
  std::optional<double> compute_share;
};
struct Baseline {
  std::string cpu;  // empty: it does not say
  std::map<std::string, BaselineEntry> entries;
};
Baseline load_baseline(const std::filesystem::path& file);

// A change by more than this is reported as one.
inline constexpr double kNotable = 0.05;

// One benchmark then and now. `speed` is now's over then's; from the shares of the roof where both have them,
// since a shared machine's own speed cancels in those; else from the times.
struct Change {
  std::string name;
  double seconds_then = 0;
  double seconds_now = 0;
  double speed = 1;
  bool from_roof = false;
  bool slower() const { return speed < 1 - kNotable; }
  bool faster() const { return speed > 1 + kNotable; }
};
struct Changes {
  std::vector<Change> changes;
  std::vector<std::string> only_now;
  std::vector<std::string> only_then;
  bool slower() const;
};
Changes compare(const Baseline& baseline, const std::vector<BenchResult>& results);
std::string comparison_table(const Changes& comparison, const Style& style);
nlohmann::ordered_json comparison_json(const Changes& comparison);

}  // namespace assay::bench
