// What a suite found, as a table for people and as JSON for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/reports/style.h"
#include "harness/verdict/suite.h"

namespace assay {

inline constexpr int kReportSchema = 1;

// One line an op and variant, then each failure with the command that repeats it, skips, and the sum.
std::string suite_table(const SuiteResult& result, const Checks& checks, const Style& style);

// One failed or mistrusted case: what, where, both values, the command.
std::string describe_problem(const CaseResult& result, const Style& style);

// What was asked for, every case of every variant, and the names of the cases that the suite knows (docs/report.md).
nlohmann::ordered_json suite_json(const SuiteResult& result, const CheckRequest& request);

// Version, commit, compiler, CPU, ISA: the head of every JSON report.
nlohmann::ordered_json environment_json();

}  // namespace assay
