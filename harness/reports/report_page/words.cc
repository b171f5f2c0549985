#include "harness/reports/report_page/words.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/reports/figures.h"

namespace assay::report_page {
namespace {

constexpr std::size_t kShown = 20;  // of a list that may be long; the page and --json have all

std::string counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::size_t cases_of(const Joined& joined) {
  std::size_t cases = 0;
  for (const OpCoverage& op : joined.coverage) cases += op.cases.size();
  return cases;
}

// What is wrong, worst first, each with its heading.
std::vector<std::pair<std::string, std::vector<std::string>>> complaints(const Joined& joined) {
  std::vector<std::pair<std::string, std::vector<std::string>>> out{
      {"Failures", {}}, {"Faults of the suite", joined.faults}, {"Differences", {}}, {"Run by nobody", joined.gaps}};
  for (const LineRef& at : joined.problems) {
    out[0].second.push_back(describe_problem_line(joined.line(at)) + "\n  repeat: " + joined.line(at).repro);
  }
  for (const Difference& one : joined.differences) out[2].second.push_back(describe_difference(joined, one));
  return out;
}

// A table cell: one line without bars.
std::string cell(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

}  // namespace

std::string machine_name(const Machine& machine) {
  return fmt::format("{}, {} {}, {}", machine.cpu, machine.compiler, machine.build_type, machine.flags);
}

std::string describe_line(const Joined& joined, const LineRef& at) {
  return fmt::format("{} in {} (machine {})", joined.line(at).variant, joined.parts[at.part].path,
                     joined.machine_of[at.part] + 1);
}

std::string describe_difference(const Joined& joined, const Difference& difference) {
  const CaseLine& first = joined.line(difference.first);
  const CaseLine& other = joined.line(difference.other);
  const auto side = [&](const LineRef& at, const CaseLine& line) {
    return fmt::format("{}: digest {}, margin {:.6g}", describe_line(joined, at), line.digest, line.margin);
  };
  return fmt::format("{}, case {}: {} {}\n  {}\n  {}", first.op, first.name,
                     difference.duplicate ? "run twice, with another" : "another", difference.what, side(difference.first, first),
                     side(difference.other, other));
}

std::string describe_problem_line(const CaseLine& line) {
  const std::string what = line.verdict == "mistrusted" ? "MISTRUSTED: a kernel that returns zeros would pass" : line.failure;
  return fmt::format("{}, case {}: {}", line.variant, line.name, what);
}

std::string figure(const std::optional<double>& value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

std::string verdict_line(const Joined& joined) {
  std::string out = joined.passed() ? "PASS: " : "FAIL: ";
  const auto wrong = [&](std::size_t count, const char* one, const char* many) {
    if (count > 0) out += counted(count, one, many) + ", ";
  };
  wrong(joined.problems.size(), "failure", "failures");
  wrong(joined.faults.size(), "fault of the suite", "faults of the suite");
  wrong(joined.differences.size(), "difference", "differences");
  wrong(joined.gaps.size(), "case that nobody ran", "cases that nobody ran");
  out += fmt::format("{} of {}, {}", counted(cases_of(joined), "case", "cases"), counted(joined.coverage.size(), "op", "ops"),
                     counted(joined.rows.size(), "variant", "variants"));
  if (!joined.merged) return out;
  out += fmt::format("; {} from {}", counted(joined.parts.size(), "report", "reports"),
                     counted(joined.machines.size(), "machine", "machines"));
  return out + (joined.passed() ? ": one answer" : "");
}

std::vector<VariantRow> worst_rows(const Joined& joined) {
  std::vector<VariantRow> out;
  for (const VariantRow& row : joined.rows) {
    if (!(row.margin > 0)) continue;
    const auto same_op = std::find_if(out.begin(), out.end(), [&](const VariantRow& r) { return r.op == row.op; });
    if (same_op == out.end()) {
      out.push_back(row);
    } else if (row.margin > same_op->margin) {
      *same_op = row;
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const VariantRow& a, const VariantRow& b) { return a.margin > b.margin; });
  return out;
}

std::string report_text(const Joined& joined, const Style& style) {
  std::string out;
  for (const auto& [heading, lines] : complaints(joined)) {
    if (lines.empty()) continue;
    out += style.bad(heading) + fmt::format(" ({})\n", lines.size());
    for (std::size_t i = 0; i < std::min(lines.size(), kShown); ++i) out += "  " + lines[i] + "\n";
    if (lines.size() > kShown) out += fmt::format("  and {} more: --json and the page list them\n", lines.size() - kShown);
  }
  for (const std::string& note : joined.notes) out += style.warn("note") + " " + note + "\n";
  for (std::size_t i = 0; i < joined.machines.size(); ++i) {
    out += fmt::format("machine {}: {}\n", i + 1, machine_name(joined.machines[i]));
  }
  Table table({"worst margins", ">margin", ">z", ">spread", ">cases", "case"});
  const auto rows = worst_rows(joined);
  for (std::size_t i = 0; i < std::min(rows.size(), kShown); ++i) {
    table.add({rows[i].variant, margin_text(rows[i].margin), figure(rows[i].z, "{:+.3g}"), figure(rows[i].spread, "{:.3g}"),
               std::to_string(rows[i].cases.size()), rows[i].worst_case});
  }
  const std::string verdict = verdict_line(joined) + "\n";
  return out + "\n" + table.render(style) + "\n" + (joined.passed() ? style.good(verdict) : style.bad(verdict));
}

std::string report_markdown(const Joined& joined) {
  std::string out = "### assay: " + verdict_line(joined) + "\n\n";
  for (const auto& [heading, lines] : complaints(joined)) {
    if (lines.empty()) continue;
    out += "**" + heading + fmt::format("** ({})\n\n```\n", lines.size());
    for (std::size_t i = 0; i < std::min(lines.size(), kShown); ++i) out += lines[i] + "\n";
    out += "```\n\n";
  }
  out += "| worst margins | margin | z | spread | cases | case |\n|---|--:|--:|--:|--:|---|\n";
  const auto rows = worst_rows(joined);
  for (std::size_t i = 0; i < std::min(rows.size(), kShown); ++i) {
    out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", rows[i].variant, margin_text(rows[i].margin),
                       figure(rows[i].z, "{:+.3g}"), figure(rows[i].spread, "{:.3g}"), rows[i].cases.size(),
                       cell(rows[i].worst_case));
  }
  out += "\n| machine | CPU | ISAs | compiler | flags |\n|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < joined.machines.size(); ++i) {
    const Machine& machine = joined.machines[i];
    out += fmt::format("| {} | {} | {} | {} {} | {} |\n", i + 1, cell(machine.cpu), machine.isas, machine.compiler,
                       machine.build_type, cell(machine.flags));
  }
  out += joined.notes.empty() ? "" : "\n";
  for (const std::string& note : joined.notes) out += "- " + note + "\n";
  return out;
}

}  // namespace assay::report_page
