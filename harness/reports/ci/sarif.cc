#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/reports/ci/ci_reports.h"
#include "harness/reports/ci/problems.h"
#include "harness/reports/figures.h"
#include "harness/version.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

struct SarifRule {
  std::string_view id;
  std::string_view means;
};
// The checks in their order, as kCheckNames has them, and the case that no check can judge.
constexpr SarifRule kSarifRules[] = {
    {"classes", "A NaN, an infinity or a zero stands where the op's definition has another class of number."},
    {"bound", "An output is farther from the exact value than the op's derived error bound allows."},
    {"bias", "The errors lean to one side, as truncation's do."},
    {"spread", "The errors are much larger than those of the scalar kernel, though within the bound."},
    {"exact", "An output of an op without rounding is not the exact one."},
    {"guard", "The kernel read or wrote outside its memory, crashed, or left its thread otherwise than it found it."},
    {"bits", "The bits are not those of the scalar kernel, or change with repeats, placement, threads or cuts of the call."},
    {"ledger", "The bits are not those that were accepted last."},
    {kMistrusted, kMistrustedMeans},
};
static_assert(std::size(kSarifRules) == kCheckNames.size() + 1);

std::size_t rule_index(const std::string& id) {
  std::size_t at = 0;
  while (kSarifRules[at].id != id) ++at;
  return at;
}

// RFC 3986: what is not unreserved or '/' is written as bytes.
std::string uri(const std::string& path) {
  static constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/+";
  std::string out;
  for (const char c : path) {
    out += kPlain.find(c) != std::string_view::npos ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

Json artifact(const std::string& file) {
  if (file.starts_with('/')) return {{"uri", "file://" + uri(file)}};
  return {{"uri", uri(file)}, {"uriBaseId", "SRCROOT"}};
}

Json result_json(const Problem& problem) {
  const CaseResult& one = *problem.result;
  Json location{
      {"physicalLocation", {{"artifactLocation", artifact(problem.place.file)}, {"region", {{"startLine", problem.place.line}}}}},
      {"logicalLocations", Json::array({{{"fullyQualifiedName", problem.variant + "/" + one.case_name}, {"kind", "function"}}})}};
  return {
      {"ruleId", problem.rule},
      {"ruleIndex", rule_index(problem.rule)},
      {"level", one.failure ? "error" : "warning"},
      {"message", {{"text", problem.variant + ", case " + one.case_name + ": " + problem.message + "\nrepeat: " + one.repro}}},
      {"locations", Json::array({std::move(location)})},
      {"partialFingerprints", {{"variantCaseCheck/v1", problem.fingerprint}}},
      {"properties", {{"margin", margin_text(one.margin)}, {"repeat", one.repro}}}};
}

Json notifications(const SuiteResult& result) {
  Json out = Json::array();
  for (const std::string& fault : result.faults) out.push_back({{"level", "error"}, {"message", {{"text", fault}}}});
  for (const Skip& skip : result.skips)
    out.push_back({{"level", "note"}, {"message", {{"text", "not run: " + skip.what + ": " + skip.why}}}});
  return out;
}

}  // namespace

std::string sarif_json(const SuiteResult& result) {
  Json rules = Json::array();
  for (const SarifRule& rule : kSarifRules) {
    rules.push_back({{"id", rule.id},
                     {"shortDescription", {{"text", rule.means}}},
                     {"help", {{"text", "docs/reading-a-verdict.md explains the check and what to do next."}}}});
  }
  Json results = Json::array();
  for (const Problem& problem : problems_of(result)) results.push_back(result_json(problem));
  const Json run{
      {"tool",
       {{"driver", {{"name", "assay"}, {"version", kVersion}, {"semanticVersion", kVersion}, {"rules", std::move(rules)}}}}},
      {"originalUriBaseIds", {{"SRCROOT", {{"uri", "file://" + uri(std::filesystem::current_path().string()) + "/"}}}}},
      {"columnKind", "utf16CodeUnits"},
      {"invocations", Json::array({{{"executionSuccessful", true},
                                    {"exitCode", result.passed() ? 0 : 1},
                                    {"toolExecutionNotifications", notifications(result)}}})},
      {"results", std::move(results)}};
  const Json log{{"$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs", Json::array({run})}};
  return log.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace assay
