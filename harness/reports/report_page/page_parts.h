// The pieces of the page (page.h), each a string of HTML.
#pragma once

#include <string>

#include "harness/reports/report_page/bench_lines.h"
#include "harness/reports/report_page/join.h"

namespace assay::report_page {

extern const char* const kPageStyle;  // after that of all pages

// A bar of `share` of the cell's width, with its figure; above 1 it is full and marked.
std::string bar(double share, const std::string& text, const std::string& title);

// Ops down, ISAs across: the worst margin of each, the bound at the bar's full width.
std::string margins_table(const Joined& joined);
// Ops down, tags across: how many cases carry it.
std::string coverage_table(const Joined& joined);
std::string bench_table(const BenchFile& bench);

}  // namespace assay::report_page
