#include "harness/reports/report_page/page.h"

#include <fmt/format.h>

#include "harness/reports/html/html.h"
#include "harness/reports/report_page/page_parts.h"
#include "harness/reports/report_page/words.h"

namespace assay::report_page {
namespace {

using html::escape;

std::string machines_table(const Joined& joined) {
  std::string out =
      R"(<div class="scroll"><table class="files"><tr><th>report</th><th>shard</th><th class="number">cases x variants</th>)"
      "<th>machine</th><th>CPU</th><th>ISAs</th><th>compiler</th><th>flags</th><th>commit</th></tr>";
  for (std::size_t i = 0; i < joined.parts.size(); ++i) {
    const Part& part = joined.parts[i];
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td class=\"number\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{} {}</td>"
        "<td>{}</td><td>{}</td></tr>",
        escape(part.path), part.shard.to_string(), part.cases.size(), joined.machine_of[i] + 1, escape(part.machine.cpu),
        escape(part.machine.isas), escape(part.machine.compiler), escape(part.machine.build_type), escape(part.machine.flags),
        escape(part.commit));
  }
  return out + "</table></div>";
}

std::string problems(const Joined& joined) {
  if (joined.problems.empty()) return "";
  std::string out = R"(<h2 id="failures">Failures</h2><ul class="problems">)";
  for (const LineRef& at : joined.problems) {
    const CaseLine& line = joined.line(at);
    out +=
        fmt::format("<li><strong>{}</strong>, case {} <span class=\"note\">{}, machine {}</span><br>{}<br><code>{}</code></li>",
                    escape(line.variant), escape(line.name), escape(joined.parts[at.part].path), joined.machine_of[at.part] + 1,
                    escape(line.verdict == "mistrusted" ? "MISTRUSTED: a kernel that returns zeros would pass" : line.failure),
                    escape(line.repro));
  }
  return out + "</ul>";
}

std::string differences(const Joined& joined) {
  if (joined.differences.empty()) return "";
  std::string out =
      R"(<h2 id="differences">Not one answer</h2><div class="scroll"><table><tr><th>op</th><th>case</th><th>what</th>)"
      R"(<th>whose</th><th>digest</th><th class="number">margin</th></tr>)";
  for (const Difference& one : joined.differences) {
    for (const LineRef& at : {one.first, one.other}) {
      const CaseLine& line = joined.line(at);
      out += fmt::format(
          R"(<tr><td>{}</td><td>{}</td><td>{}{}</td><td>{}</td><td class="name">{}</td><td class="number">{:.6g}</td></tr>)",
          escape(line.op), escape(line.name), one.what, one.duplicate ? ", run twice" : "", escape(describe_line(joined, at)),
          escape(line.digest), line.margin);
    }
  }
  return out + "</table></div>";
}

std::string listed(const char* id, const char* heading, const std::vector<std::string>& lines, const char* style) {
  if (lines.empty()) return "";
  return fmt::format(R"(<h2 id="{}">{} ({})</h2>)", id, heading, lines.size()) + html::list_of(lines, style);
}

}  // namespace

std::string page(const Joined& joined, const BenchFile* bench) {
  std::string out = html::page_head("assay report", kPageStyle, html::Scripts::none);
  out += "<h1>assay report</h1>";
  out += fmt::format("<p class=\"banner {}\"><strong>{}</strong></p>\n", joined.passed() ? "good" : "bad",
                     escape(verdict_line(joined)));
  out += problems(joined) + listed("faults", "Faults of the suite", joined.faults, "bad-text") + differences(joined);
  out += listed("gaps", "Run by nobody", joined.gaps, "bad-text") + "\n";
  out += R"(<h2 id="reports">Reports</h2>)" + machines_table(joined) + html::list_of(joined.notes, "warn-text") + "\n";
  out += R"(<h2 id="margins">Ops and variants</h2>)" + margins_table(joined) + "\n";
  out += R"(<h2 id="coverage">Cases by tag</h2>)" + coverage_table(joined) + "\n";
  if (bench != nullptr) out += R"(<h2 id="bench">Bench</h2>)" + bench_table(*bench) + "\n";
  return out + "</body></html>\n";
}

}  // namespace assay::report_page
