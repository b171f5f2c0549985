// What a suite found, as JSON for programs.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "harness/verdict/suite.h"

namespace assay {

inline constexpr int kReportSchema = 1;

// How many failed by which check.
std::map<std::string_view, std::int64_t> failed_by_check(const SuiteResult& result);

// What was asked for, every case of every variant, and the names of the cases that the suite knows (docs/report.md).
nlohmann::ordered_json suite_json(const SuiteResult& result, const CheckRequest& request);

// Version, commit, compiler, CPU, ISA: the head of every JSON report.
nlohmann::ordered_json environment_json();

// As every command prints it. A path or a name in a stranger's file need not be UTF-8; JSON must be.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace assay
