// The page of `assay report -o`: what --json prints, drawn by page.html.
#pragma once

#include <string>

#include "harness/reports/report_page/bench_lines.h"
#include "harness/reports/report_page/join.h"

namespace assay::report_page {

// `bench` may be null.
std::string page(const Joined& joined, const BenchFile* bench);

}  // namespace assay::report_page
