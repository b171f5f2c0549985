// What an import says: the sites that it found, what it left out and why.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/interop/import/foreign_run.h"
#include "harness/reports/report.h"

namespace assay {
namespace {

using Reasons = std::vector<std::pair<std::string, std::vector<std::string>>>;

// What was left out by reason, in the order in which the reasons come up.
Reasons by_reason(const std::vector<LeftOut>& left_out) {
  Reasons reasons;
  for (const LeftOut& one : left_out) {
    auto found = std::ranges::find(reasons, one.why, &Reasons::value_type::first);
    if (found == reasons.end()) found = reasons.insert(reasons.end(), {one.why, {}});
    found->second.push_back(one.what);
  }
  return reasons;
}

std::vector<std::int64_t> shape_of(const ForeignPrompt& prompt, const ForeignSite& site) {
  std::vector<std::int64_t> shape{std::ssize(prompt.prompt.positions)};
  shape.insert(shape.end(), site.row_shape.begin(), site.row_shape.end());
  return shape;
}

}  // namespace

std::string import_text(const ForeignRun& run, const std::filesystem::path& out, const Style& style) {
  std::string text = fmt::format("{}: model {}, weights {}, recipe {}, rope {}, {}\n", style.strong(out.string()), run.head.model,
                                 run.head.weights, run.head.recipe, run.head.rope, run.head.dtype);
  Table table({"prompt", ">tokens", ">rows", ">sites", ">greedy"});
  for (const ForeignPrompt& one : run.prompts) {
    table.add({one.prompt.name, fmt::format("{}", one.prompt.tokens.size()), fmt::format("{}", one.prompt.positions.size()),
               fmt::format("{}", one.sites.size()),
               one.prompt.greedy ? fmt::format("{}", one.prompt.greedy->tokens.size()) : ""});
  }
  text += table.render(style);
  for (const auto& [why, what] : by_reason(run.left_out)) {
    text += fmt::format("left out, {}: {} ({}{})\n", what.size(), why, what.front(), what.size() > 1 ? " .. " + what.back() : "");
  }
  return text;
}

nlohmann::ordered_json import_json(const ForeignRun& run, const std::filesystem::path& out) {
  nlohmann::ordered_json json = environment_json();
  json["out"] = out.string();
  json["dump"] = run.file.string();
  json["model"] = run.head.model;
  json["weights"] = run.head.weights;
  json["model_sha256"] = run.head.model_sha256;
  json["recipe"] = run.head.recipe;
  json["rope"] = run.head.rope;
  json["dtype"] = run.head.dtype;
  for (const ForeignPrompt& one : run.prompts) {
    nlohmann::ordered_json sites = nlohmann::ordered_json::array();
    for (const ForeignSite& site : one.sites) {
      sites.push_back(
          {{"site", site.site}, {"from", site.from}, {"dtype", dtype_name(site.dtype)}, {"shape", shape_of(one, site)}});
    }
    json["prompts"].push_back({{"prompt", one.prompt.name},
                               {"tokens", one.prompt.tokens.size()},
                               {"positions", one.prompt.positions},
                               {"sites", std::move(sites)}});
  }
  json["left_out"] = nlohmann::ordered_json::array();
  for (const LeftOut& one : run.left_out) {
    json["left_out"].push_back({{"prompt", one.prompt}, {"what", one.what}, {"why", one.why}});
  }
  return json;
}

}  // namespace assay
