#include "harness/reports/suite_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/reports/failures.h"
#include "harness/reports/figures.h"
#include "harness/reports/report.h"

namespace assay {
namespace {

struct ColumnText {
  const char* head;
  std::size_t width;
  const char* meaning;
};

constexpr ColumnText kColumnTexts[] = {
    {"variant", 0, "a kernel: its op and its instruction set, or a plugin's name and the kernel's"},
    {"cases", 5, "golden cases, and cases made from seeds"},
    {"compared", 9, "outputs compared with the truth; none is a failure"},
    {"margin", 6, "the largest error, as a part of the derived bound: above 1 fails"},
    {"z", 6, "bias: how far the mean error is from 0, in its standard deviations; beyond 6 fails"},
    {"spread", 6, "the errors' root mean square over the scalar kernel's: above 32 fails"},
    {"layouts", 7, "calls of the kernel, each with its tensors elsewhere in memory"},
    {"verdict", 0, "pass; pass as declared, and the margin without the declaration; FAIL or MISTRUSTED and how many cases are"},
};

constexpr std::pair<const char*, const char*> kWords[] = {
    {"held to truth", "outputs compared with the truth, within the bound"},
    {"by bits alone", "outputs that have no bound, compared with the canonical bits"},
    {"refusals", "calls that a kernel must refuse"},
    {"trivial", "cases that a kernel returning zeros would pass, and that are meant so"},
    {"mistrusted", "such cases that are not meant so: they say nothing, and fail"},
    {"not in the ledger", "golden cases whose bits nobody has accepted yet (`assay ledger --help`)"},
};

constexpr const char* kLegend =
    "margin: error / bound, fails above 1; z: bias, fails beyond 6; spread: error / scalar kernel's, fails above 32 "
    "(--explain-columns)";

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
  std::optional<double> price;
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
  if (one.price) row.price = std::max(row.price.value_or(0), *one.price);
  if (is_bias(one.case_name) && one.z && std::fabs(*one.z) >= std::fabs(row.z.value_or(0))) row.z = one.z;
  if (one.spread) row.spread = std::max(row.spread.value_or(0), *one.spread);
}

// In the order the suite ran them.
std::vector<std::pair<std::string, Row>> rows_of(std::span<const CaseResult> cases) {
  std::vector<std::pair<std::string, Row>> rows;
  std::map<std::string, std::size_t> index;
  for (const CaseResult& one : cases) {
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
  return style.good(row.price ? "pass as declared, price " + margin_text(*row.price) : "pass");
}

std::string summary(const SuiteResult& result, const Style& style) {
  const auto rows = rows_of(result.cases);
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
  const auto some = [](std::int64_t count, const char* one) { return counted(static_cast<std::size_t>(count), one); };
  std::string out = fmt::format(
      "{}, {}, {} in memory; {} held to truth, {} by bits alone; {}, {} trivial, {} not in the ledger, {} mistrusted, {} "
      "failed\n",
      counted(rows.size(), "variant"), some(sum.cases, "case"), some(sum.layouts, "call"), some(sum.compared, "output"),
      sum.bits_only, some(sum.refusals, "refusal"), sum.trivial, sum.unknown_to_ledger, sum.mistrusted, sum.failed);
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

}  // namespace

SuiteRows::SuiteRows(const std::vector<std::string>& labels, const Style& style) : style_(style) {
  for (const ColumnText& text : kColumnTexts) columns_.push_back({text.head, text.width, text.width > 0});
  for (const std::string& label : labels) columns_.front().width = std::max(columns_.front().width, label.size());
}

std::string SuiteRows::head() const {
  std::vector<std::string> heads;
  for (const TableColumn& column : columns_) heads.push_back(column.head);
  return style_.strong(row_of(columns_, heads)) + "\n";
}

std::string SuiteRows::rows(std::span<const CaseResult> cases) const {
  std::string out;
  for (const auto& [variant, row] : rows_of(cases)) {
    out += row_of(columns_, {variant, std::to_string(row.cases), std::to_string(row.compared), margin_text(row.margin),
                             optional_number(row.z, "{:+.3g}"), optional_number(row.spread, "{:.3g}"),
                             std::to_string(row.layouts), verdict_cell(row, style_)}) +
           "\n";
  }
  return out;
}

std::string suite_head(const SuiteResult& result) {
  return result.isolation.empty() ? "" : "isolation: " + result.isolation + "\n";
}

std::string suite_end(const SuiteResult& result, const Checks& checks, const Style& style, const Detail& detail) {
  std::string out;
  if (!detail.quiet()) {
    out += style.faint(kLegend) + "\n\n";
    for (const RemotePlugin& plugin : result.plugins)
      out += fmt::format("plugin {} {} ({}), in a process of its own\n", plugin.name, plugin.version, plugin.path);
    out += trait_lines(result);
    if (result.seed) out += fmt::format("random cases from seed {}\n", *result.seed);
    if (!result.runner.empty()) out += "run by assay-runner on " + result.runner + "\n";
  }
  out += failure_lines(result, style, detail) + fault_lines(result, style, detail);
  if (!detail.quiet()) out += skip_lines(result, style, detail);
  if (!checks.off_to_string().empty()) out += style.warn("checks off") + " " + checks.off_to_string() + "\n";
  return out + summary(result, style);
}

std::string suite_table(const SuiteResult& result, const Checks& checks, const Style& style, const Detail& detail) {
  std::vector<std::string> labels;
  for (const CaseResult& one : result.cases) labels.push_back(variant_label(one.op, one.variant));
  const SuiteRows rows(labels, style);
  return suite_head(result) + rows.head() + rows.rows(result.cases) + suite_end(result, checks, style, detail);
}

nlohmann::ordered_json columns_json() {
  nlohmann::ordered_json json = environment_json();
  for (const ColumnText& text : kColumnTexts) json["columns"][text.head] = text.meaning;
  for (const auto& [word, meaning] : kWords) json["words"][word] = meaning;
  return json;
}

std::string explain_columns(const Style& style) {
  Table table({"column", "meaning"});
  for (const ColumnText& text : kColumnTexts) table.add({text.head, text.meaning});
  Table words({"below the table", "meaning"});
  for (const auto& [word, meaning] : kWords) words.add({word, meaning});
  return table.render(style) + "\n" + words.render(style);
}

}  // namespace assay
