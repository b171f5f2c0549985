#include "harness/forensics/audit/allowed.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <stdexcept>

#include "harness/forensics/sites/site_name.h"

namespace assay {

Allowance parse_allowed(const std::string& text) {
  const auto fail = [&](const char* what) {
    throw std::invalid_argument(
        fmt::format("--allow '{}': {}; expected SITE=BOUNDS WHY, as in 'layers.*.swiglu=20 its sigmoid'", text, what));
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) fail("no site");
  Allowance out{text.substr(0, equals), 0, {}};
  const char* const first = text.data() + equals + 1;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, out.bounds);
  if (error != std::errc() || !std::isfinite(out.bounds) || out.bounds < 1) fail("how many bounds, 1 or more");
  const char* const why = std::find_if(end, last, [](char c) { return c != ' '; });
  if (why == end || why == last) fail("no reason");
  out.why.assign(why, last);
  return out;
}

std::vector<Allowance> read_allowed(const std::vector<std::string>& words) {
  std::vector<Allowance> out;
  for (const std::string& word : words) {
    if (word.find('=') != std::string::npos) {
      out.push_back(parse_allowed(word));
      continue;
    }
    std::ifstream file(word);
    if (!file)
      throw std::invalid_argument(fmt::format("--allow {}: is neither SITE=BOUNDS WHY nor a file that can be read", word));
    for (std::string line; std::getline(file, line);) {
      if (!line.empty() && line.front() != '#') out.push_back(parse_allowed(line));
    }
  }
  return out;
}

const Allowance* find_allowed(const std::vector<Allowance>& all, std::string_view site) {
  const auto found = std::ranges::find_if(all, [&](const Allowance& one) { return matches_glob(one.sites, site); });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace assay
