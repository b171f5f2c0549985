#include "harness/reports/report_page/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "harness/reports/figures.h"

namespace assay::report_page {
namespace {

constexpr std::size_t kShown = 20;  // of a list that may be long; the page and --json have all

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

// One line of Markdown that shows the text as it is: what would be a mark, a table's bar or emphasis, is escaped.
std::string cell(std::string_view text) {
  const auto within_a_word = [&](std::size_t at) {
    const auto is_letter = [&](std::size_t i) {
      return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i])) != 0;
    };
    return is_letter(at - 1) && is_letter(at + 1);
  };
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool mark = c == '_' ? !within_a_word(at) : std::string_view("\\`*[]<>|~&").find(c) != std::string_view::npos;
    out += mark ? "\\" : "";
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

// Longer than any run of backticks in the block that it is to hold.
std::string fence_of(const std::string& block) {
  std::string fence = "```";
  while (block.find(fence) != std::string::npos) fence += '`';
  return fence;
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
  out += fmt::format("{} of {}, {}", counted(cases_of(joined), "case"), counted(joined.coverage.size(), "op"),
                     counted(joined.rows.size(), "variant"));
  if (!joined.merged) return out;
  out += fmt::format("; {} from {}", counted(joined.parts.size(), "report"), counted(joined.machines.size(), "machine"));
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
    std::string block;
    for (std::size_t i = 0; i < std::min(lines.size(), kShown); ++i) block += lines[i] + "\n";
    if (lines.size() > kShown) block += fmt::format("and {} more\n", lines.size() - kShown);
    const std::string fence = fence_of(block);
    out += fmt::format("**{}** ({})\n\n{}\n{}{}\n\n", heading, lines.size(), fence, block, fence);
  }
  out += "| worst margins | margin | z | spread | cases | case |\n|---|--:|--:|--:|--:|---|\n";
  const auto rows = worst_rows(joined);
  for (std::size_t i = 0; i < std::min(rows.size(), kShown); ++i) {
    out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", cell(rows[i].variant), margin_text(rows[i].margin),
                       figure(rows[i].z, "{:+.3g}"), figure(rows[i].spread, "{:.3g}"), rows[i].cases.size(),
                       cell(rows[i].worst_case));
  }
  out += "\n| machine | CPU | ISAs | compiler | flags |\n|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < joined.machines.size(); ++i) {
    const Machine& machine = joined.machines[i];
    out += fmt::format("| {} | {} | {} | {} {} | {} |\n", i + 1, cell(machine.cpu), cell(machine.isas), cell(machine.compiler),
                       cell(machine.build_type), cell(machine.flags));
  }
  out += joined.notes.empty() ? "" : "\n";
  for (const std::string& note : joined.notes) out += "- " + cell(note) + "\n";
  return out;
}

}  // namespace assay::report_page
