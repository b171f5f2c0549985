// What a joined report says, for people and for programs. page.h makes the page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/reports/report_page/join.h"
#include "harness/reports/style.h"

namespace assay::report_page {

// A number, or "-" where there is none.
std::string figure(const std::optional<double>& value, const char* format);
// "FAIL: 2 failures, 3 cases that nobody ran; 3927 cases, ..."
std::string verdict_line(const Joined& joined);

// One machine in words: "AMD EPYC, GNU 12.2.0 Release, -O3 -DNDEBUG".
std::string machine_name(const Machine& machine);
// Whose line it is: "rms_norm_avx2 in part-2.json (machine 1)".
std::string describe_line(const Joined& joined, const LineRef& at);
std::string describe_difference(const Joined& joined, const Difference& difference);
// "rms_norm_avx2, case eps_1: bound: y[3] = ..."
std::string describe_problem_line(const CaseLine& line);

// Of each op the variant with the largest margin, the largest first; exact ones, whose margin is 0, left out.
std::vector<VariantRow> worst_rows(const Joined& joined);

std::string report_text(const Joined& joined, const Style& style);
// For a step summary: the verdict, what is wrong, the worst margins.
std::string report_markdown(const Joined& joined);
nlohmann::ordered_json report_page_json(const Joined& joined);

}  // namespace assay::report_page
