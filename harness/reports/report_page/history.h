// Reports of one suite over time, the oldest first: what became of margins and speed from commit to commit.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/reports/report_page/bench_lines.h"
#include "harness/reports/report_page/part.h"
#include "harness/reports/style.h"

namespace assay::report_page {

// Of each report its commit, failures and the worst margin of each op; of each bench its speeds. Fewer than two of either: it is left out.
nlohmann::ordered_json history_json(const std::vector<Part>& parts, const std::vector<BenchFile>& benches);
// A line a report; empty where there are fewer than two.
std::string history_text(const std::vector<Part>& parts, const Style& style);

}  // namespace assay::report_page
