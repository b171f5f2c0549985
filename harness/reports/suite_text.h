// What a suite found, as text for people.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "harness/reports/style.h"
#include "harness/reports/suite_problems.h"
#include "harness/verdict/suite.h"

namespace assay {

// A line a variant, printed op by op.
class SuiteRows {
 public:
  // `labels`: of all variants that may come.
  SuiteRows(const std::vector<std::string>& labels, const Style& style);

  std::string head() const;
  std::string rows(std::span<const CaseResult> cases) const;

 private:
  std::vector<TableColumn> columns_;
  Style style_;
};

// What stands before the rows: what holds plugins in.
std::string suite_head(const SuiteResult& result);

// What stands below the rows: failures of a kind together, the first of each whole, with the command that repeats it; skips, and the sum.
// Quiet, failures and sum alone; verbose, every failure.
std::string suite_end(const SuiteResult& result, const Checks& checks, const Style& style, const Detail& detail);

// All of it.
std::string suite_table(const SuiteResult& result, const Checks& checks, const Style& style, const Detail& detail = {});

// What the columns and the words of the sum mean.
std::string explain_columns(const Style& style);
nlohmann::ordered_json columns_json();

}  // namespace assay
