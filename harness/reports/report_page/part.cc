#include "harness/reports/report_page/part.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "harness/reports/report.h"
#include "harness/reports/report_page/reader.h"

namespace assay::report_page {
namespace {

constexpr std::string_view kCheck = "`assay check --json`";

CaseLine read_case(const Member& json) {
  CaseLine line;
  line.op = json.at("op").text();
  line.variant = json.at("variant").text();
  line.name = json.at("case").text();
  line.verdict = json.at("verdict").text();
  if (line.verdict != "pass" && line.verdict != "fail" && line.verdict != "mistrusted") {
    json.at("verdict").fail("pass, fail or mistrusted");
  }
  line.tags = json.at("tags").texts();
  line.trivial = json.at("trivial").truth();
  line.compared = json.at("compared").integer() + json.at("bits_only").integer();
  json.at("margin");
  line.margin = json.number_if("margin").value_or(std::numeric_limits<double>::infinity());
  line.z = json.number_if("z");
  line.spread = json.number_if("spread");
  line.digest = json.at("digest").text();
  if (json.has("failure")) {
    line.failure = json.at("failure").at("check").text() + ": " + json.at("failure").at("message").text();
  }
  line.repro = json.at("repro").text();
  return line;
}

Shard read_shard(const Member& json) {
  Shard shard{json.at("index").integer(), json.at("count").integer()};
  if (shard.index < 1 || shard.index > shard.count) json.fail("index and count with 1 <= index <= count");
  return shard;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

}  // namespace

Part read_part(const std::filesystem::path& path) {
  return part_of(Member::parse(path, kCheck), path.string());
}

Part part_of(const nlohmann::json& document, const std::string& path) {
  const Member json(document, path + ": ", kCheck);
  if (json.at("schema").integer() != kReportSchema) json.at("schema").fail(fmt::format("{}", kReportSchema));
  Part part;
  part.path = path;
  part.version = json.at("version").text();
  part.commit = json.at("commit").text();
  part.machine = {json.at("cpu").text(), joined(json.at("isas").texts()), json.at("compiler").text(),
                  json.at("build_type").text(), json.at("flags").text()};
  const Member request = json.at("request");
  part.shard = read_shard(request.at("shard"));
  part.everything =
      request.at("case").text().empty() && request.at("tag").text().empty() && !request.has("data") && !request.has("variant");
  part.checks_off = json.at("checks_off").text();
  for (const auto& [op, cases] : json.at("known").members()) part.known[op] = cases.texts();
  for (const Member& one : json.at("cases").items()) part.cases.push_back(read_case(one));
  part.faults = json.at("faults").texts();
  for (const Member& skip : json.at("skipped").items()) part.skips[skip.at("what").text()] = skip.at("why").text();
  if (json.has("places")) {
    for (const auto& [variant, place] : json.at("places").members()) {
      part.places[variant] = place.at("file").text() + ":" + std::to_string(place.at("line").integer());
    }
  }
  return part;
}

}  // namespace assay::report_page
