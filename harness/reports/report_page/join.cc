#include "harness/reports/report_page/join.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/verdict/suite.h"

namespace assay::report_page {
namespace {

class Joining {
 public:
  Joining(std::vector<Part> parts, bool merge) {
    out_.parts = std::move(parts);
    out_.merged = merge;
  }

  Joined run() {
    find_machines();
    for (std::size_t part = 0; part < out_.parts.size(); ++part) {
      for (std::size_t line = 0; line < out_.parts[part].cases.size(); ++line) take({part, line});
    }
    take_known();
    take_faults();
    if (out_.merged) {
      find_gaps();
      judge_variants();
      note_shards();
      note_variants();
    }
    note_parts();
    return std::move(out_);
  }

 private:
  void find_machines() {
    for (const Part& part : out_.parts) {
      auto found = std::find(out_.machines.begin(), out_.machines.end(), part.machine);
      if (found == out_.machines.end()) found = out_.machines.insert(found, part.machine);
      out_.machine_of.push_back(static_cast<std::size_t>(found - out_.machines.begin()));
    }
  }

  VariantRow& row_of(const CaseLine& line) {
    const auto [entry, is_new] = row_index_.emplace(line.variant, out_.rows.size());
    if (is_new) {
      out_.rows.emplace_back();
      out_.rows.back().op = line.op;
      out_.rows.back().variant = line.variant;
    }
    return out_.rows[entry->second];
  }

  OpCoverage& coverage_of(const std::string& op) {
    const auto [entry, is_new] = coverage_index_.emplace(op, out_.coverage.size());
    if (is_new) {
      out_.coverage.emplace_back();
      out_.coverage.back().op = op;
    }
    return out_.coverage[entry->second];
  }

  void take(const LineRef& at) {
    const CaseLine& line = out_.line(at);
    VariantRow& row = row_of(line);
    row.cases.insert(line.name);
    row.compared += line.compared;
    row.trusted += !line.trivial && line.verdict != "mistrusted" ? 1 : 0;
    row.failed += line.verdict == "fail" ? 1 : 0;
    row.mistrusted += line.verdict == "mistrusted" ? 1 : 0;
    if (row.worst_case.empty() || line.margin > row.margin) {
      row.margin = line.margin;
      row.worst_case = line.name;
    }
    if (is_bias(line.name) && line.z && std::fabs(*line.z) >= std::fabs(row.z.value_or(0))) row.z = line.z;
    if (line.spread) row.spread = std::max(row.spread.value_or(0), *line.spread);
    OpCoverage& coverage = coverage_of(line.op);
    if (coverage.cases.insert(line.name).second) {
      for (const std::string& tag : line.tags) ++coverage.tags[tag];
    }
    if (line.verdict != "pass") out_.problems.push_back(at);
    if (out_.merged) hold_to_first(at);
  }

  // One answer: every variant on every machine gives the bits of the case's first. Margins of the same bits agree as well, or a
  // reference differs.
  void hold_to_first(const LineRef& at) {
    const CaseLine& line = out_.line(at);
    const auto [entry, is_new] = first_.emplace(std::make_pair(line.op, line.name), at);
    const CaseLine& first = out_.line(entry->second);
    if (is_new) return;
    const bool duplicate = line.variant == first.variant && out_.machine(at) == out_.machine(entry->second);
    if (line.digest != first.digest) {
      out_.differences.push_back({entry->second, at, "digest", duplicate});
    } else if (line.margin != first.margin && !(std::fabs(line.margin - first.margin) <= kMarginRounding)) {
      out_.differences.push_back({entry->second, at, "margin", duplicate});
    }
  }

  void take_known() {
    std::map<std::string, std::set<std::string>> known;
    for (const Part& part : out_.parts) {
      for (const auto& [op, cases] : part.known) known[op].insert(cases.begin(), cases.end());
    }
    for (const auto& [op, cases] : known) coverage_of(op).known = cases.size();
    known_ = std::move(known);
  }

  void take_faults() {
    for (const Part& part : out_.parts) {
      for (const std::string& fault : part.faults) {
        if (std::find(out_.faults.begin(), out_.faults.end(), fault) == out_.faults.end()) out_.faults.push_back(fault);
      }
    }
  }

  void find_gaps() {
    for (const auto& [op, cases] : known_) {
      const std::set<std::string>& ran = coverage_of(op).cases;
      for (const std::string& name : cases) {
        if (!ran.contains(name)) out_.gaps.push_back(op + " " + name);
      }
    }
  }

  // A shard cannot tell whether a variant's cases suffice; all of them together can.
  void judge_variants() {
    const auto whole = [](const Part& part) { return part.everything; };
    const bool everything = std::all_of(out_.parts.begin(), out_.parts.end(), whole);
    std::map<std::string, VariantTally> tallies;
    // Where cases are missing, they may be the ones that count: the gap is what is told.
    for (const VariantRow& row : out_.rows) {
      if (row.cases.size() == coverage_of(row.op).known) tallies[row.variant] = {row.compared, row.trusted};
    }
    for (const std::string& fault : tally_faults(tallies, everything, {})) {
      if (std::find(out_.faults.begin(), out_.faults.end(), fault) == out_.faults.end()) out_.faults.push_back(fault);
    }
    if (out_.rows.empty()) out_.faults.emplace_back("no case was run");
  }

  void note_shards() {
    std::map<std::int64_t, std::set<std::int64_t>> seen;  // N -> the I that are here
    for (const Part& part : out_.parts) seen[part.shard.count].insert(part.shard.index);
    for (const auto& [count, indices] : seen) {
      for (std::int64_t i = 1; i <= count; ++i) {
        if (!indices.contains(i)) out_.notes.push_back(fmt::format("shard {}/{} is not among the parts", i, count));
      }
    }
  }

  void note_variants() {
    for (const VariantRow& row : out_.rows) {
      const std::size_t ran = coverage_of(row.op).cases.size();
      if (row.cases.size() < ran) {
        out_.notes.push_back(
            fmt::format("{}: {} of the {} cases that others ran; their parts' machines lack the ISA, or did not ask for it",
                        row.variant, row.cases.size(), ran));
      }
    }
  }

  // Variants that no part ran, commits that differ, checks that were off.
  void note_parts() {
    std::map<std::string, std::string> skips;
    for (const Part& part : out_.parts) skips.insert(part.skips.begin(), part.skips.end());
    for (const auto& [what, why] : skips) {
      if (!row_index_.contains(what)) out_.notes.push_back(fmt::format("{} was run nowhere: {}", what, why));
    }
    for (const Part& part : out_.parts) {
      const Part& first = out_.parts.front();
      if (part.commit != first.commit) {
        out_.notes.push_back(fmt::format("{} is of commit {}, {} of {}", part.path, part.commit, first.path, first.commit));
      }
      if (!part.checks_off.empty()) out_.notes.push_back(fmt::format("{}: checks off: {}", part.path, part.checks_off));
    }
  }

  Joined out_;
  std::map<std::string, std::size_t> row_index_;
  std::map<std::string, std::size_t> coverage_index_;
  std::map<std::pair<std::string, std::string>, LineRef> first_;
  std::map<std::string, std::set<std::string>> known_;
};

}  // namespace

Joined join(std::vector<Part> parts, bool merge) {
  return Joining(std::move(parts), merge).run();
}

}  // namespace assay::report_page
