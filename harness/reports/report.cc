#include "harness/reports/report.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "golden/store.h"
#include "harness/reports/ci/source_place.h"
#include "harness/reports/figures.h"
#include "harness/version.h"

namespace assay {
namespace {

std::string_view verdict_name(Verdict verdict) {
  if (verdict == Verdict::pass) return "pass";
  return verdict == Verdict::fail ? "fail" : "mistrusted";
}

nlohmann::ordered_json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json case_json(const CaseResult& one) {
  nlohmann::ordered_json json{{"op", one.op},
                              {"variant", one.variant},
                              {"case", one.case_name},
                              {"source", one.source},
                              {"tags", one.tags},
                              {"verdict", verdict_name(one.verdict)},
                              {"trivial", one.trivial},
                              {"refusal", one.refusal},
                              {"in_ledger", one.in_ledger},
                              {"compared", one.compared},
                              {"bits_only", one.bits_only},
                              {"layouts", one.placements},
                              {"margin", number_or_null(one.margin)},
                              {"worst", one.worst},
                              {"z", number_or_null(one.z)},
                              {"spread", number_or_null(one.spread)},
                              {"nmse", number_or_null(one.nmse)},
                              {"all_close", one.all_close},
                              {"digest", one.digest}};
  if (!one.stability.empty()) json["stability"] = one.stability;
  if (one.price) json["price"] = number_or_null(one.price);
  if (one.crashed) json["crashed"] = true;
  if (one.seed) json["seed"] = *one.seed;
  if (!one.data.empty()) {
    json["data"] = one.data;
    for (const auto& [name, value] : one.params.values())
      std::visit([&, &n = name](const auto& v) { json["shape"][n] = v; }, value);
  }
  if (one.failure) json["failure"] = {{"check", check_name(one.failure->check)}, {"message", one.failure->message}};
  json["repro"] = one.repro;
  return json;
}

nlohmann::ordered_json request_json(const CheckRequest& request) {
  nlohmann::ordered_json json{{"ops", request.ops},
                              {"isa", nlohmann::ordered_json::array()},
                              {"case", request.case_name},
                              {"tag", request.tag},
                              {"golden", request.golden.string()},
                              {"data", nullptr},
                              {"variant", nullptr},
                              {"shard", {{"index", request.shard.index}, {"count", request.shard.count}}}};
  for (const Isa isa : request.isas) json["isa"].push_back(isa_name(isa));
  if (request.generated) json["data"] = request.generated->data;
  if (!request.variant.empty()) json["variant"] = request.variant;
  if (request.runner && !request.runner->declared.empty()) json["declared"] = request.runner->declared;
  if (!request.only.empty()) json["variant"] = "those that failed";
  return json;
}

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

}  // namespace

std::map<std::string_view, std::int64_t> failed_by_check(const SuiteResult& result) {
  std::map<std::string_view, std::int64_t> counts;
  for (const CaseResult& one : result.cases) {
    if (one.failure) ++counts[check_name(one.failure->check)];
  }
  return counts;
}

nlohmann::ordered_json environment_json() {
  std::vector<std::string_view> isas;
  for (const IsaRow& row : kIsas) {
    if (isa_selectable(row.isa)) isas.push_back(row.name);
  }
  return {{"schema", kReportSchema},       {"version", kVersion}, {"commit", kCommit},  {"compiler", kCompiler},
          {"build_type", kBuildType},      {"flags", kFlags},     {"cpu", cpu_model()}, {"isas", isas},
          {"golden_schema", kGoldenSchema}};
}

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

nlohmann::ordered_json suite_json(const SuiteResult& result, const CheckRequest& request) {
  nlohmann::ordered_json json = environment_json();
  json["request"] = request_json(request);
  json["checks"] = request.checks.to_string();
  json["checks_off"] = request.checks.off_to_string();
  json["passed"] = result.passed();
  json["cases"] = nlohmann::ordered_json::array();
  for (const CaseResult& one : result.cases) json["cases"].push_back(case_json(one));
  if (result.seed) json["seed"] = *result.seed;
  if (!result.runner.empty()) json["runner"] = result.runner;
  if (!result.isolation.empty()) json["isolation"] = result.isolation;
  for (const RemotePlugin& plugin : result.plugins) {
    json["plugins"].push_back({{"name", plugin.name}, {"version", plugin.version}, {"path", plugin.path}});
  }
  for (const DeclaredTrait& one : result.traits) {
    json["traits"].push_back({{"variant", one.variant}, {"trait", one.key}, {"value", one.value}, {"seen", one.seen}});
  }
  json["failed"] = failed_by_check(result);
  if (result.interrupted) json["interrupted"] = true;
  json["places"] = nlohmann::ordered_json::object();
  for (const auto& [variant, place] : places_of_problems(result))
    json["places"][variant] = {{"file", place.file}, {"line", place.line}};
  json["known"] = result.known;
  json["faults"] = result.faults;
  json["skipped"] = nlohmann::ordered_json::array();
  for (const Skip& skip : result.skips) json["skipped"].push_back({{"what", skip.what}, {"why", skip.why}});
  return json;
}

}  // namespace assay
