#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/reports/figures.h"
#include "harness/reports/html/html.h"
#include "harness/reports/report_page/page_parts.h"
#include "harness/reports/report_page/words.h"

namespace assay::report_page {
namespace {

using html::escape;

std::string isa_of(const VariantRow& row) {
  return row.variant.starts_with(row.op + "_") ? row.variant.substr(row.op.size() + 1) : row.variant;
}

// In the order in which they are first seen: scalar runs first.
std::vector<std::string> isas_of(const Joined& joined) {
  std::vector<std::string> out;
  for (const VariantRow& row : joined.rows) {
    const std::string isa = isa_of(row);
    if (std::find(out.begin(), out.end(), isa) == out.end()) out.push_back(isa);
  }
  return out;
}

std::string margin_cell(const VariantRow& row) {
  const std::string title =
      fmt::format("{}: worst margin {:.6g} in case {}; {} cases, {} outputs compared, z {}, spread {}", row.variant, row.margin,
                  row.worst_case, row.cases.size(), row.compared, figure(row.z, "{:+.2f}"), figure(row.spread, "{:.3g}"));
  const bool bad = row.failed + row.mistrusted > 0;
  std::string text = margin_text(row.margin);
  if (row.failed > 0) text += fmt::format(" FAIL {}", row.failed);
  if (row.mistrusted > 0) text += fmt::format(" MISTRUSTED {}", row.mistrusted);
  return fmt::format(R"(<td{}>{}</td>)", bad ? R"( class="failed")" : "", bar(row.margin, text, title));
}

// The largest |z| and spread among an op's variants.
struct Extremes {
  std::optional<double> z, spread;
};

Extremes extremes_of(const Joined& joined, const std::string& op) {
  Extremes out;
  for (const VariantRow& row : joined.rows) {
    if (row.op != op) continue;
    if (row.z && std::fabs(*row.z) >= std::fabs(out.z.value_or(0))) out.z = row.z;
    if (row.spread) out.spread = std::max(out.spread.value_or(0), *row.spread);
  }
  return out;
}

// By how many cases carry them, the most frequent first.
std::vector<std::string> tags_of(const Joined& joined) {
  std::map<std::string, std::size_t> counts;
  for (const OpCoverage& op : joined.coverage) {
    for (const auto& [tag, count] : op.tags) counts[tag] += count;
  }
  std::vector<std::string> tags;
  for (const auto& [tag, count] : counts) tags.push_back(tag);
  std::stable_sort(tags.begin(), tags.end(), [&](const auto& a, const auto& b) { return counts[a] > counts[b]; });
  return tags;
}

}  // namespace

std::string bar(double share, const std::string& text, const std::string& title) {
  const double width = share > 0 ? std::min(share, 1.0) * 100 : 0;
  return fmt::format(R"(<div class="bar{}" title="{}"><i style="width:{:.1f}%"></i><span>{}</span></div>)",
                     share > 1 ? " over" : "", escape(title), width, escape(text));
}

std::string margins_table(const Joined& joined) {
  const std::vector<std::string> isas = isas_of(joined);
  std::string out =
      R"(<p class="note">Worst margin of each variant; a full bar is the bound. Exact ops have 0 or infinity. z is the )"
      R"(bias (at most 6 either way), spread the RMS of the errors against the scalar kernel's (at most 32).</p>)"
      R"(<div class="scroll"><table class="margins"><tr><th>op</th>)";
  for (const std::string& isa : isas) out += "<th>" + escape(isa) + "</th>";
  out += R"(<th class="number">z</th><th class="number">spread</th><th class="number">cases</th></tr>)";
  for (const OpCoverage& op : joined.coverage) {
    out += "\n<tr><td class=\"name\">" + escape(op.op) + "</td>";
    for (const std::string& isa : isas) {
      const auto row = std::find_if(joined.rows.begin(), joined.rows.end(),
                                    [&](const VariantRow& r) { return r.op == op.op && isa_of(r) == isa; });
      out += row == joined.rows.end() ? "<td></td>" : margin_cell(*row);
    }
    const Extremes most = extremes_of(joined, op.op);
    out +=
        fmt::format(R"(<td class="number">{}</td><td class="number">{}</td><td class="number{}">{}</td></tr>)",
                    figure(most.z, "{:+.1f}"), figure(most.spread, "{:.3g}"), op.cases.size() < op.known ? " bad-text" : "",
                    op.cases.size() == op.known ? std::to_string(op.known) : fmt::format("{} of {}", op.cases.size(), op.known));
  }
  return out + "</table></div>";
}

std::string coverage_table(const Joined& joined) {
  const std::vector<std::string> tags = tags_of(joined);
  std::string out = R"(<div class="scroll"><table class="coverage"><tr><th>op</th><th class="number">cases</th>)";
  for (const std::string& tag : tags) out += R"(<th class="number">)" + escape(tag) + "</th>";
  out += "</tr>";
  for (const OpCoverage& op : joined.coverage) {
    out += fmt::format("\n<tr><td class=\"name\">{}</td><td class=\"number\">{}</td>", escape(op.op), op.cases.size());
    for (const std::string& tag : tags) {
      const auto found = op.tags.find(tag);
      out += R"(<td class="number">)" + (found == op.tags.end() ? "" : std::to_string(found->second)) + "</td>";
    }
    out += "</tr>";
  }
  return out + "</table></div>";
}

std::string bench_table(const BenchFile& bench) {
  std::string out =
      fmt::format(R"(<p class="note">{}, on {}: time of one call, and its share of what the machine can do at most.</p>)",
                  escape(bench.path), escape(bench.cpu));
  out +=
      R"(<div class="scroll"><table class="margins"><tr><th>variant</th><th>shape</th><th>cache</th><th class="number">us</th>)"
      R"(<th class="number">GB/s</th><th>of read roof</th><th>of peak</th></tr>)";
  const auto share = [](const std::optional<double>& percent) {
    return percent ? bar(*percent / 100, fmt::format("{:.1f} %", *percent), "") : std::string();
  };
  for (const BenchLine& line : bench.lines) {
    out += fmt::format(
        "\n<tr><td class=\"name\">{}</td><td>{}</td><td>{}</td><td class=\"number\">{:.4g}</td>"
        "<td class=\"number\">{:.1f}</td><td>{}</td><td>{}</td></tr>",
        escape(line.variant), escape(line.shape), line.cold ? "cold" : "warm", 1e-3 * line.nanoseconds, line.gbytes_per_second,
        share(line.read_percent), share(line.compute_percent));
  }
  return out + "</table></div>";
}

const char* const kPageStyle = R"css(
.margins td { padding: 1px 8px 1px 0; }
.bar { position: relative; width: 150px; height: 20px; background: var(--card); border-radius: 3px; overflow: hidden;
  font: 12.5px/20px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.bar i { position: absolute; left: 0; top: 0; bottom: 0; background: var(--good); opacity: 0.35; }
.bar span { position: relative; padding: 0 6px; }
.bar.over i, .failed .bar i { background: var(--bad); }
.failed .bar { outline: 1.5px solid var(--bad); width: auto; min-width: 150px; }
.coverage tr:nth-child(even) td { background: var(--stripe); }
.problems li { margin: 8px 0; overflow-wrap: anywhere; }
li { white-space: pre-line; }
)css";

}  // namespace assay::report_page
