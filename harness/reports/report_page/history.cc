#include "harness/reports/report_page/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/reports/figures.h"

namespace assay::report_page {
namespace {

using Json = nlohmann::ordered_json;

std::size_t failures_of(const Part& part) {
  return part.faults.size() +
         static_cast<std::size_t>(std::ranges::count_if(part.cases, [](const CaseLine& one) { return one.verdict != "pass"; }));
}

std::map<std::string, double> worst_margins(const Part& part) {
  std::map<std::string, double> worst;
  for (const CaseLine& one : part.cases) worst[one.op] = std::max(worst[one.op], one.margin);
  return worst;
}

}  // namespace

Json history_json(const std::vector<Part>& parts, const std::vector<BenchFile>& benches) {
  Json json{{"reports", Json::array()}, {"benches", Json::array()}};
  for (const Part& part : parts) {
    if (parts.size() < 2) break;
    Json margins = Json::object();
    for (const auto& [op, margin] : worst_margins(part)) margins[op] = std::isfinite(margin) ? Json(margin) : Json(nullptr);
    json["reports"].push_back({{"file", part.path},
                               {"commit", part.commit},
                               {"cpu", part.machine.cpu},
                               {"failures", failures_of(part)},
                               {"margins", std::move(margins)}});
  }
  for (const BenchFile& bench : benches) {
    if (benches.size() < 2) break;
    Json speeds = Json::object();
    for (const BenchLine& line : bench.lines) {
      speeds[line.variant + " " + line.shape + (line.cold ? " cold" : " warm")] = line.gbytes_per_second;
    }
    json["benches"].push_back(
        {{"file", bench.path}, {"commit", bench.commit}, {"cpu", bench.cpu}, {"speeds", std::move(speeds)}});
  }
  return json;
}

std::string history_text(const std::vector<Part>& parts, const Style& style) {
  if (parts.size() < 2) return {};
  Table table({"history", "commit", ">failures", ">worst margin", "of"});
  for (const Part& part : parts) {
    const auto worst = worst_margins(part);
    const auto most = std::ranges::max_element(worst, {}, [](const auto& pair) { return pair.second; });
    table.add({part.path, part.commit, std::to_string(failures_of(part)), most == worst.end() ? "-" : margin_text(most->second),
               most == worst.end() ? "" : most->first});
  }
  return table.render(style) + "\n";
}

}  // namespace assay::report_page
