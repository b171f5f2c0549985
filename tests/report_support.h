// Reports for the tests of `assay report`.
#pragma once

#include <string>

#include "harness/reports/report_page/part.h"

namespace assay::report_page {

// A part with one case of one variant, and two that the suite knows.
inline Part part(const std::string& variant, const std::string& case_name, const std::string& digest) {
  Part out;
  out.path = case_name + ".json";
  out.machine.cpu = "one";
  out.known = {{"add", {"a", "b"}}};
  CaseLine line;
  line.op = "add";
  line.variant = variant;
  line.name = case_name;
  line.verdict = "pass";
  line.compared = 3;
  line.margin = 0.25;
  line.digest = digest;
  out.cases.push_back(line);
  return out;
}

}  // namespace assay::report_page
