// The change since an older run of `assay bench`, with what can be said of it for certain.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/reports/style.h"
#include "harness/verdict/bench/bench.h"

namespace assay::bench {

// The least runs of either side that an interval is made of, and the most that are made to narrow it.
inline constexpr std::size_t kLeastRuns = 5;
inline constexpr std::size_t kMostRuns = 40;
// What --fail-slower is where it is not given.
inline constexpr double kNotable = 0.05;

// An older JSON: the runs of each benchmark. Throws std::runtime_error that names the file and what was expected.
struct Baseline {
  std::string file;
  std::string cpu;  // empty: it does not say
  std::map<std::string, std::vector<Reading>> runs;
};
Baseline load_baseline(const std::filesystem::path& file);

enum class Pace : std::uint8_t {
  same,     // not slower, or not for certain by more than what is allowed, and the interval is narrow
  slower,   // for certain by more than is allowed, and the fastest runs too: a busy neighbour slows some, a change all
  faster,   // for certain by as much
  unclear,  // the interval is wide and holds what is allowed: it could not be told
  unknown,  // no interval: one side has fewer than kLeastRuns runs
};

// One benchmark then and now. `speed` is now's over then's, the ratio of the trimmed geometric means of the runs: of the shares of the roof
// where both have them, since a shared machine's own speed cancels in those, of an older plugin's times in the same rounds, else of the times;
// and of the times where those tell what the shares leave unclear, and agree with them.
struct Change {
  std::string name;
  double seconds_then = 0;
  double seconds_now = 0;
  std::string by = {};  // "share of the roof", "in turn", "time"
  double speed = 1;
  double low = 0;  // one-sided 99 % limits by Student's t, Welch's degrees of freedom; of unknown: 0
  double high = 0;
  double fastest =
      0;  // the same ratio of now's fastest run (by shares: but one) and then's fastest; 0 where old and new took turns
  bool vague = false;  // the baseline's runs alone make the interval too wide: more of them are needed
  std::size_t runs_then = 0;
  std::size_t runs_now = 0;
  Pace pace = Pace::unknown;
};

// `allowed`: by which part it may be slower, 0.05.
Change change_of(const std::vector<Reading>& then, const BenchResult& now, double allowed);
// Against an older plugin's kernel, in whose turn it was timed.
Change change_in_turn(const BenchResult& now, double allowed);
// Whether more runs would tell nothing that matters, or there are kMostRuns; before it is called slower than a baseline there are.
bool settled(const Change& change, double allowed);

struct Changes {
  double allowed = kNotable;
  std::vector<Change> changes;
  std::vector<std::string> only_now;
  std::vector<std::string> only_then;
  bool slower() const;
};
Changes compare(const Baseline& baseline, const std::vector<BenchResult>& results, double allowed);
Changes compare_in_turn(const std::vector<BenchResult>& results, double allowed);

std::string comparison_table(const Changes& comparison, const Style& style);
nlohmann::ordered_json comparison_json(const Changes& comparison);

}  // namespace assay::bench
