// The page of `assay report -o`: what --json prints, drawn by page.html.
#pragma once

#include <string>
#include <vector>

#include "harness/reports/report_page/bench_lines.h"
#include "harness/reports/report_page/join.h"

namespace assay::report_page {

// `past`: earlier reports of the suite and the one of `joined`, oldest first, or none; of `benches` the last is the one that is shown whole.
std::string page(const Joined& joined, const std::vector<Part>& past, const std::vector<BenchFile>& benches);

}  // namespace assay::report_page
