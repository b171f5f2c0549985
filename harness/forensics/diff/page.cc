#include "harness/forensics/diff/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/forensics/diff/report.h"
#include "harness/forensics/model/definition.h"
#include "harness/forensics/sites/site_name.h"
#include "harness/pages.h"
#include "harness/reports/page/page.h"

namespace assay::diff {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRows = 48;

// Three digits are what the map's colours and hovering show; null stands for infinity.
Json rounded(double value) {
  return std::isfinite(value) ? Json(std::stod(fmt::format("{:.2e}", value))) : Json(nullptr);
}

// Rows of the map: one a position, or, of many, 48 in each of which the largest error counts.
void add_map(Json& out, const PromptDiff& prompt) {
  const auto& positions = prompt.alignment.positions;
  const std::size_t rows = positions.size();
  const std::size_t count = std::min(rows, kMostRows);
  const auto begin = [&](std::size_t row) { return row * rows / count; };
  out["rows"] = out["cells"] = Json::array();
  for (std::size_t row = 0; row < count; ++row) {
    const auto first = positions[begin(row)];
    const auto last = positions[begin(row + 1) - 1];
    out["rows"].push_back(first == last ? std::to_string(first) : fmt::format("{}-{}", first, last));
  }
  for (const SiteError& error : prompt.errors) {
    Json cells = Json::array();
    for (std::size_t row = 0; row < count; ++row) {
      const double* const of = error.row_relative.data();
      cells.push_back(rounded(std::max(0.0, *std::max_element(of + begin(row), of + begin(row + 1)))));
    }
    out["cells"].push_back(std::move(cells));
  }
}

// What the text report says in sentences.
Json sentences(const TraceDiff& diff, const PromptDiff& prompt) {
  const auto sites = prompt.divergences();
  const auto flips = [](const std::optional<LogitsDiff>& logits, bool diverges) {
    Json out = Json::array();
    for (const LogitsFlip& flip : logits ? logits->flips : std::vector<LogitsFlip>())
      out.push_back(describe_flip(flip, diverges));
    return out;
  };
  Json out{{"called", prompt.called},
           {"threshold", describe_threshold(prompt)},
           {"divergence", sites.empty() ? "" : describe_divergence(prompt, sites.front())},
           {"next", next_command(diff, prompt)},
           {"flips", flips(prompt.logits, !sites.empty())},
           {"flips_against", flips(prompt.logits_against, false)},
           {"lone_rows", Json::array()}};
  for (const LoneRows& rows : prompt.alignment.lone) {
    out["lone_rows"].push_back(fmt::format("{} alone, not compared: {}", rows.sides, ranges_text(rows.positions)));
  }
  return out;
}

}  // namespace

std::string diff_html(const TraceDiff& diff) {
  Json data = diff_json(diff);
  data["verdict"] = verdict(diff);
  for (std::size_t i = 0; i < diff.prompts.size(); ++i) {
    Json& out = data["prompts"][i];
    for (Json& site : out["sites"]) {
      const auto& whole = site["site"].get_ref<const std::string&>();
      const SiteName name = parse_site(whole);
      site.update({{"layer", name.layer}, {"op", name.op}, {"kind", op_kind(name.op)}});
    }
    out["says"] = sentences(diff, diff.prompts[i]);
    add_map(out, diff.prompts[i]);
  }
  return fill_page(kDiffPage, data);
}

}  // namespace assay::diff
