#include "harness/reports/report.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "golden/store.h"
#include "harness/reports/figures.h"
#include "harness/version.h"

namespace assay {
namespace {

// The cases of one variant added up.
struct Row {
  std::string op;
  std::int64_t cases = 0;
  std::int64_t compared = 0;
  std::int64_t bits_only = 0;
  std::int64_t refusals = 0;
  std::int64_t trivial = 0;
  std::int64_t mistrusted = 0;
  std::int64_t failed = 0;
  std::int64_t unknown_to_ledger = 0;
  std::int64_t layouts = 0;
  double margin = 0;
  std::optional<double> z;
  std::optional<double> spread;
};

void add(Row& row, const CaseResult& one) {
  row.op = one.op;
  ++row.cases;
  row.compared += one.compared;
  row.bits_only += one.bits_only;
  row.refusals += one.refusal ? 1 : 0;
  row.trivial += one.trivial ? 1 : 0;
  row.mistrusted += one.verdict == Verdict::mistrusted ? 1 : 0;
  row.failed += one.verdict == Verdict::fail ? 1 : 0;
  row.unknown_to_ledger += one.in_ledger || one.drawn || one.digest.empty() ? 0 : 1;  // refused calls have no digest
  row.layouts += one.placements;
  row.margin = std::max(row.margin, one.margin);
  if (is_bias(one.case_name) && one.z && std::fabs(*one.z) >= std::fabs(row.z.value_or(0))) row.z = one.z;
  if (one.spread) row.spread = std::max(row.spread.value_or(0), *one.spread);
}

// In the order the suite ran them.
std::vector<std::pair<std::string, Row>> rows_of(const SuiteResult& result) {
  std::vector<std::pair<std::string, Row>> rows;
  std::map<std::string, std::size_t> index;
  for (const CaseResult& one : result.cases) {
    const std::string label = variant_label(one.op, one.variant);
    const auto [entry, is_new] = index.emplace(label, rows.size());
    if (is_new) rows.emplace_back(label, Row{});
    add(rows[entry->second].second, one);
  }
  return rows;
}

std::string optional_number(const std::optional<double>& value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

std::string verdict_cell(const Row& row, const Style& style) {
  if (row.failed > 0) return style.bad(fmt::format("FAIL {}", row.failed));
  if (row.mistrusted > 0) return style.warn(fmt::format("MISTRUSTED {}", row.mistrusted));
  return style.good("pass");
}

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
                              {"isa", nullptr},
                              {"case", request.case_name},
                              {"tag", request.tag},
                              {"golden", request.golden.string()},
                              {"data", nullptr},
                              {"shard", {{"index", request.shard.index}, {"count", request.shard.count}}}};
  if (request.isa) json["isa"] = isa_name(*request.isa);
  if (request.generated) json["data"] = request.generated->data;
  return json;
}

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string summary(const SuiteResult& result, const std::vector<std::pair<std::string, Row>>& rows, const Style& style) {
  Row sum;
  for (const auto& [variant, row] : rows) {
    sum.cases += row.cases;
    sum.compared += row.compared;
    sum.bits_only += row.bits_only;
    sum.refusals += row.refusals;
    sum.trivial += row.trivial;
    sum.mistrusted += row.mistrusted;
    sum.failed += row.failed;
    sum.unknown_to_ledger += row.unknown_to_ledger;
    sum.layouts += row.layouts;
  }
  std::string out = fmt::format(
      "{} variants, {} cases, {} calls in memory; {} outputs held to truth, {} by bits alone; {} refusals, {} trivial, {} not in "
      "the "
      "ledger, {} mistrusted, {} failed\n",
      rows.size(), sum.cases, sum.layouts, sum.compared, sum.bits_only, sum.refusals, sum.trivial, sum.unknown_to_ledger,
      sum.mistrusted, sum.failed);
  return out + (result.passed() ? style.good("PASS") : style.bad("FAIL")) + "\n";
}

// "rms_norm mine:fast declares nan=no (not seen), over-read=16": a line a kernel.
std::string trait_lines(const SuiteResult& result) {
  std::string out;
  std::string variant;
  for (const DeclaredTrait& one : result.traits) {
    out += one.variant == variant ? ", " : (out.empty() ? "" : "\n") + one.variant + " declares ";
    out += one.key + "=" + one.value + (one.seen ? "" : " (not seen)");
    variant = one.variant;
  }
  return out.empty() ? out : out + "\n";
}

// How many failed by which check: "12 failed: 7 bound, 3 guard".
std::map<std::string_view, std::int64_t> failed_by_check(const SuiteResult& result) {
  std::map<std::string_view, std::int64_t> counts;
  for (const CaseResult& one : result.cases) {
    if (one.failure) ++counts[check_name(one.failure->check)];
  }
  return counts;
}

std::string failed_line(const SuiteResult& result) {
  std::vector<std::pair<std::int64_t, std::string_view>> counts;
  std::int64_t all = 0;
  for (const auto& [check, count] : failed_by_check(result)) {
    counts.emplace_back(-count, check);
    all += count;
  }
  if (all == 0) return {};
  std::ranges::sort(counts);
  std::string out;
  for (const auto& [count, check] : counts) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", -count, check);
  return fmt::format("{} failed: {}\n", all, out);
}

}  // namespace

std::string describe_problem(const CaseResult& one, const Style& style) {
  std::string where = one.case_name;
  if (!one.source.empty()) where += " (" + one.source + ")";
  if (one.seed) where += fmt::format(" (seed {})", *one.seed);
  const std::string head = variant_label(one.op, one.variant) + ", case " + where + ": ";
  if (one.verdict == Verdict::mistrusted) {
    return style.warn("MISTRUSTED") + " " + head +
           "a kernel that returns zeros would pass; tag it trivial if that is meant\n  repeat: " + one.repro + "\n";
  }
  return style.bad("FAIL") + " " + head + std::string(check_name(one.failure->check)) + "\n  " + one.failure->message +
         "\n  repeat: " + one.repro + "\n";
}

std::string suite_table(const SuiteResult& result, const Checks& checks, const Style& style) {
  const auto rows = rows_of(result);
  Table table({"variant", ">cases", ">compared", ">margin", ">z", ">spread", ">layouts", "verdict"});
  for (const auto& [variant, row] : rows) {
    table.add({variant, std::to_string(row.cases), std::to_string(row.compared), margin_text(row.margin),
               optional_number(row.z, "{:+.3g}"), optional_number(row.spread, "{:.3g}"), std::to_string(row.layouts),
               verdict_cell(row, style)});
  }
  std::string out = result.isolation.empty() ? "" : "isolation: " + result.isolation + "\n\n";
  out += table.render(style) + "\n";
  for (const RemotePlugin& plugin : result.plugins) {
    out += fmt::format("plugin {} {} ({}), in a process of its own\n", plugin.name, plugin.version, plugin.path);
  }
  out += trait_lines(result);
  if (result.seed) out += fmt::format("random cases from seed {}\n", *result.seed);
  if (!result.runner.empty()) out += "run by assay-runner on " + result.runner + "\n";
  out += failed_line(result);
  for (const CaseResult& one : result.cases) {
    if (one.verdict != Verdict::pass) out += describe_problem(one, style);
  }
  for (const std::string& fault : result.faults) out += style.bad("FAIL") + " " + fault + "\n";
  for (const Skip& skip : result.skips) out += style.warn("skipped") + " " + skip.what + ": " + skip.why + "\n";
  if (!checks.off_to_string().empty()) out += style.warn("checks off") + " " + checks.off_to_string() + "\n";
  return out + summary(result, rows, style);
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
  json["known"] = result.known;
  json["faults"] = result.faults;
  json["skipped"] = nlohmann::ordered_json::array();
  for (const Skip& skip : result.skips) json["skipped"].push_back({{"what", skip.what}, {"why", skip.why}});
  return json;
}

}  // namespace assay
