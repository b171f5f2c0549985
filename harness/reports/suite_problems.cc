#include "harness/reports/suite_problems.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/reports/failures.h"
#include "harness/reports/figures.h"
#include "harness/reports/report.h"

namespace assay {
namespace {

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

// "climb_2, eps_1, eps_2": the first few.
template <class Names>
std::string some_of(const Names& names) {
  constexpr std::size_t kSome = 3;
  std::vector<std::string> some(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(kSome, names.size())));
  return fmt::format("{}{}", fmt::join(some, ", "), names.size() > kSome ? ", ..." : "");
}

struct Reason {
  std::string why;
  std::vector<std::string> of;
};

// What is so for one reason, together; each by itself where all is wanted.
void add_reason(std::vector<Reason>& reasons, const std::string& of, const std::string& why, const Detail& detail) {
  auto known = std::ranges::find(reasons, why, &Reason::why);
  if (known == reasons.end() || detail.verbose()) known = reasons.insert(reasons.end(), {why, {}});
  known->of.push_back(of);
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

std::string failure_lines(const SuiteResult& result, const Style& style, const Detail& detail) {
  const std::vector<FailureKind> kinds = failure_kinds(result.cases);
  std::string out = failed_line(result);
  std::size_t left = 0;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const std::vector<const CaseResult*>& cases = kinds[k].cases;
    if (k >= detail.most_failures && !detail.verbose()) {
      left += cases.size();
      continue;
    }
    out += describe_problem(*cases.front(), style);
    std::vector<std::string> others;
    for (const CaseResult* one : std::span(cases).subspan(1)) {
      if (detail.verbose()) out += describe_problem(*one, style);
      others.push_back(one->case_name);
    }
    if (!others.empty() && !detail.verbose()) out += fmt::format("  and {} more like it: {}\n", others.size(), some_of(others));
  }
  if (left == 0) return out;
  return out +
         fmt::format("{} cases more fail, of {} other kinds: --max-failures N shows more kinds, -v all, -o FILE keeps all\n",
                     left, kinds.size() - detail.most_failures);
}

// A fault is "whose: why".
std::string fault_lines(const SuiteResult& result, const Style& style, const Detail& detail) {
  std::vector<Reason> reasons;
  for (const std::string& fault : result.faults) {
    const std::size_t colon = std::min(fault.rfind(": "), fault.size());
    add_reason(reasons, fault.substr(0, colon), fault.substr(colon), detail);
  }
  const std::size_t shown = detail.verbose() ? reasons.size() : std::min(reasons.size(), detail.most_failures);
  std::string out;
  for (const Reason& one : std::span(reasons).first(shown)) {
    out += style.bad("FAIL") + " " + some_of(one.of) + (one.of.size() == 1 ? "" : fmt::format(" ({} in all)", one.of.size())) +
           one.why + "\n";
  }
  if (shown < reasons.size()) out += fmt::format("{} FAIL lines more: -v shows all\n", reasons.size() - shown);
  return out;
}

std::string skip_lines(const SuiteResult& result, const Style& style, const Detail& detail) {
  std::vector<Reason> reasons;
  for (const Skip& skip : result.skips) add_reason(reasons, skip.what, skip.why, detail);
  std::string out;
  for (const Reason& one : reasons) {
    out += style.warn("skipped") + " " +
           (one.of.size() == 1 ? one.of.front() : fmt::format("{} kernels ({})", one.of.size(), some_of(one.of))) + ": " +
           one.why + "\n";
  }
  return out;
}

}  // namespace assay
