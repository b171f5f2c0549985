// Deviations that are known: sites that may be wrong by so much and no more.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct Allowance {
  std::string sites;  // a glob
  double bounds = 1;  // the most
  std::string why;
};

// "layers.*.swiglu=20 its sigmoid". Throws std::invalid_argument that says what is missing.
Allowance parse_allowed(const std::string& text);
// Each word one of these, or, without an =, a file that has one a line; empty lines and lines that begin with # say nothing.
std::vector<Allowance> read_allowed(const std::vector<std::string>& words);
// The first that speaks of the site; null: none.
const Allowance* find_allowed(const std::vector<Allowance>& all, std::string_view site);

}  // namespace assay
