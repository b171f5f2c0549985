// What went wrong in a suite, as text for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/reports/style.h"
#include "harness/verdict/suite.h"

namespace assay {

// How much of it is said.
struct Detail {
  enum class Level : std::uint8_t { quiet, normal, verbose } level = Level::normal;
  std::size_t most_failures = 5;  // kinds of failure that are shown

  bool quiet() const { return level == Level::quiet; }
  bool verbose() const { return level == Level::verbose; }
};

// One failed or mistrusted case: what, where, both values, the command.
std::string describe_problem(const CaseResult& result, const Style& style);

// Failures of a kind together, the first of each whole; faults and skips that have one reason together.
std::string failure_lines(const SuiteResult& result, const Style& style, const Detail& detail);
std::string fault_lines(const SuiteResult& result, const Style& style, const Detail& detail);
std::string skip_lines(const SuiteResult& result, const Style& style, const Detail& detail);

}  // namespace assay
