#include "harness/forensics/diff/align.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/forensics/model/definition.h"
#include "harness/forensics/sites/site_name.h"

namespace assay::diff {
namespace {

// The sides that hold a site or a row: bit i for side i.
using Holders = unsigned;

std::string names_of(const std::vector<Side>& sides, Holders holders) {
  std::string out;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    if ((holders >> i & 1U) != 0) out += sides[i].name;
  }
  return out;
}

// "A and B".
std::string spelt(const std::string& names) {
  std::vector<std::string> letters;
  for (const char c : names) letters.emplace_back(1, c);
  return fmt::format("{}", fmt::join(letters, " and "));
}

void compare_tokens(const std::vector<Side>& sides, std::vector<std::string>& problems) {
  const auto& first = sides.front().prompt.tokens;
  for (std::size_t i = 1; i < sides.size(); ++i) {
    const auto& other = sides[i].prompt.tokens;
    const auto [a, b] = std::mismatch(first.begin(), first.end(), other.begin(), other.end());
    if (a == first.end() && b == other.end()) continue;
    if (a == first.end() || b == other.end()) {
      problems.push_back(
          fmt::format("tokens: {} in {}, {} in {}", first.size(), sides.front().name, other.size(), sides[i].name));
    } else {
      problems.push_back(
          fmt::format("tokens: token {} is {} in {}, {} in {}", a - first.begin(), *a, sides.front().name, *b, sides[i].name));
    }
  }
}

void align_rows(const std::vector<Side>& sides, Alignment& out) {
  std::map<std::int32_t, Holders> holders;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    for (const std::int32_t position : sides[i].prompt.positions) holders[position] |= 1U << i;
  }
  const Holders all = (1U << sides.size()) - 1;
  std::map<Holders, std::vector<std::int32_t>> lone;
  for (const auto& [position, held] : holders) (held == all ? out.positions : lone[held]).push_back(position);
  for (auto& [held, positions] : lone) out.lone.push_back({names_of(sides, held), std::move(positions)});
  for (const Side& side : sides) {
    const auto& kept = side.prompt.positions;
    auto& rows = out.rows.emplace_back();
    for (const std::int32_t position : out.positions) {
      rows.push_back(std::lower_bound(kept.begin(), kept.end(), position) - kept.begin());
    }
  }
  if (out.positions.empty()) out.problems.emplace_back("positions: no row is kept by all");
}

// The shape of a row, and its type where that is a block: numbers of every type are compared with one another.
std::string row_shape(const Side& side, const std::string& site) {
  const Array array = side.file->describe(side.prompt, site);
  const std::vector<std::int64_t> row(array.shape.begin() + 1, array.shape.end());
  return fmt::format("{}[rows, {}]", is_block(array.dtype) ? std::string(dtype_name(array.dtype)) + " " : "",
                     fmt::join(row, ", "));
}

// All of them, the first side's in its order and the others' after the site that they follow there.
std::vector<std::string> merged_sites(const std::vector<Side>& sides) {
  std::vector<std::string> out = sides.front().prompt.sites;
  for (std::size_t i = 1; i < sides.size(); ++i) {
    auto after = out.begin();
    for (const std::string& site : sides[i].prompt.sites) {
      auto place = std::find(out.begin(), out.end(), site);
      if (place == out.end()) place = out.insert(after, site);
      after = place + 1;
    }
  }
  return out;
}

}  // namespace

std::string ranges_text(const std::vector<std::int32_t>& ascending) {
  std::string out;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    out += (out.empty() ? "" : ", ") + std::to_string(ascending[i]);
    if (last > i) out += "-" + std::to_string(ascending[last]);
    i = last + 1;
  }
  return out;
}

Alignment align(const std::vector<Side>& sides, const std::string& glob) {
  Alignment out;
  compare_tokens(sides, out.problems);
  align_rows(sides, out);
  const Holders all = (1U << sides.size()) - 1;
  for (const std::string& site : merged_sites(sides)) {
    if (!glob.empty() && !matches_glob(glob, site)) {
      ++out.left_out;
      continue;
    }
    Holders held = 0;
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const auto& kept = sides[i].prompt.sites;
      if (std::find(kept.begin(), kept.end(), site) != kept.end()) held |= 1U << i;
    }
    const std::string in = names_of(sides, held);
    if (is_own_site(site)) {
      out.own.push_back(site + " (" + in + ")");
    } else if (held != all) {
      out.problems.push_back(fmt::format("{}: in {} alone, missing in {}", site, spelt(in), spelt(names_of(sides, all & ~held))));
    } else {
      std::vector<std::string> shapes;
      for (const Side& side : sides) shapes.push_back(row_shape(side, site));
      const bool numbers = std::none_of(sides.begin(), sides.end(),
                                        [&](const Side& side) { return is_block(side.file->describe(side.prompt, site).dtype); });
      if (numbers && std::adjacent_find(shapes.begin(), shapes.end(), std::not_equal_to<>()) == shapes.end()) {
        out.sites.push_back(site);
        continue;
      }
      for (std::size_t i = 0; i < sides.size(); ++i) shapes[i] += " in " + sides[i].name;
      out.problems.push_back(fmt::format("{}: {}", site, fmt::join(shapes, ", ")));
    }
  }
  if (out.sites.empty()) out.problems.emplace_back("sites: none is in all");
  return out;
}

}  // namespace assay::diff
