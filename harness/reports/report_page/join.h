// Reports of one suite put together: the parts of a split suite, from one machine or several (docs/report.md).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/reports/report_page/part.h"

namespace assay::report_page {

// All cases of one variant.
struct VariantRow {
  std::string op;
  std::string variant;
  std::set<std::string> cases;
  std::int64_t compared = 0;
  std::int64_t trusted = 0;
  std::int64_t failed = 0;
  std::int64_t mistrusted = 0;
  double margin = 0;
  std::string worst_case;
  std::optional<double> z;  // of the op's own seeded case
  std::optional<double> spread;
};

// Which cases of an op there are, and how many of them carry a tag.
struct OpCoverage {
  std::string op;
  std::size_t known = 0;
  std::set<std::string> cases;  // that some part ran
  std::map<std::string, std::size_t> tags;
};

// A line of a part.
struct LineRef {
  std::size_t part = 0;
  std::size_t line = 0;
};

// Two answers to one case. The first in the parts' order is the one that the others are held to.
struct Difference {
  LineRef first;
  LineRef other;
  std::string what;        // digest or margin
  bool duplicate = false;  // the same variant on the same machine
};

struct Joined {
  std::vector<Part> parts;
  std::vector<Machine> machines;
  std::vector<std::size_t> machine_of;  // of each part
  std::vector<VariantRow> rows;         // in the order in which the ops first ran
  std::vector<OpCoverage> coverage;
  std::vector<LineRef> problems;  // lines that failed or are mistrusted
  std::vector<std::string> faults;
  std::vector<Difference> differences;
  std::vector<std::string> gaps;   // "rms_norm eps_1": cases of the suite that no part ran
  std::vector<std::string> notes;  // what is not wrong, but should be known
  bool merged = false;

  const CaseLine& line(const LineRef& at) const { return parts[at.part].cases[at.line]; }
  const Machine& machine(const LineRef& at) const { return machines[machine_of[at.part]]; }
  bool passed() const { return problems.empty() && faults.empty() && differences.empty() && gaps.empty(); }
};

// `merge`: the parts together are the suite; gaps and differences are looked for. Without it there is one part, and only what it
// says of itself counts.
Joined join(std::vector<Part> parts, bool merge);

}  // namespace assay::report_page
