#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/reports/report.h"
#include "harness/reports/report_page/words.h"
#include "harness/verdict/suite.h"
#include "reference/ops/op.h"

namespace assay::report_page {
namespace {

using Json = nlohmann::ordered_json;

// Infinity is null, as in the reports.
Json number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json line_json(const Joined& joined, const LineRef& at) {
  const CaseLine& line = joined.line(at);
  const auto& places = joined.parts[at.part].places;
  const auto place = places.find(variant_label(line.op, line.variant));
  return {{"file", joined.parts[at.part].path},
          {"machine", joined.machine_of[at.part]},
          {"op", line.op},
          {"variant", line.variant},
          {"case", line.name},
          {"verdict", line.verdict},
          {"margin", number(line.margin)},
          {"digest", line.digest},
          {"failure", line.failure},
          {"place", place == places.end() ? "" : place->second},
          {"repro", line.repro}};
}

Json row_json(const VariantRow& row) {
  return {{"op", row.op},         {"variant", row.variant},       {"cases", row.cases.size()},    {"compared", row.compared},
          {"failed", row.failed}, {"mistrusted", row.mistrusted}, {"margin", number(row.margin)}, {"worst_case", row.worst_case},
          {"z", number(row.z)},   {"spread", number(row.spread)}};
}

bool is_exact(const std::string& name) {
  const Op* op = find_op(name);
  return op != nullptr && op->contract->exactness == reference::Exactness::exact;
}

// Every case of every variant, once: [case, margin, verdict]; of those that several parts ran the first.
Json lines_json(const Joined& joined) {
  Json lines = Json::object();
  for (const VariantRow& row : joined.rows) lines[row.variant] = Json::array();
  std::set<std::pair<std::string, std::string>> seen;
  for (const Part& part : joined.parts) {
    for (const CaseLine& line : part.cases) {
      if (seen.emplace(line.variant, line.name).second)
        lines[line.variant].push_back({line.name, number(line.margin), line.verdict});
    }
  }
  return lines;
}

}  // namespace

Json report_page_json(const Joined& joined) {
  Json json = environment_json();
  json["passed"] = joined.passed();
  json["merged"] = joined.merged;
  json["verdict"] = verdict_line(joined);
  for (const char* list : {"parts", "machines", "problems", "differences", "variants", "coverage"}) json[list] = Json::array();
  for (std::size_t i = 0; i < joined.parts.size(); ++i) {
    const Part& part = joined.parts[i];
    json["parts"].push_back({{"file", part.path},
                             {"machine", joined.machine_of[i]},
                             {"commit", part.commit},
                             {"shard", {{"index", part.shard.index}, {"count", part.shard.count}}},
                             {"cases", part.cases.size()}});
  }
  for (const Machine& machine : joined.machines) {
    json["machines"].push_back({{"cpu", machine.cpu},
                                {"isas", machine.isas},
                                {"compiler", machine.compiler},
                                {"build_type", machine.build_type},
                                {"flags", machine.flags}});
  }
  for (const LineRef& at : joined.problems) json["problems"].push_back(line_json(joined, at));
  for (const Difference& one : joined.differences) {
    json["differences"].push_back({{"what", one.what},
                                   {"duplicate", one.duplicate},
                                   {"first", line_json(joined, one.first)},
                                   {"other", line_json(joined, one.other)}});
  }
  json["gaps"] = joined.gaps;
  json["faults"] = joined.faults;
  json["notes"] = joined.notes;
  for (const VariantRow& row : joined.rows) json["variants"].push_back(row_json(row));
  for (const OpCoverage& op : joined.coverage) {
    json["coverage"].push_back(
        {{"op", op.op}, {"known", op.known}, {"run", op.cases.size()}, {"exact", is_exact(op.op)}, {"tags", op.tags}});
  }
  json["cases"] = lines_json(joined);
  return json;
}

}  // namespace assay::report_page
