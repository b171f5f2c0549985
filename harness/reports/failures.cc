#include "harness/reports/failures.h"

#include <map>
#include <regex>
#include <tuple>

namespace assay {
std::string without_numbers(const std::string& message) {
  static const std::regex number(R"([-+]?\b(0x[0-9a-f]+|[0-9][0-9.]*(e[-+]?[0-9]+)?|nan|inf)\b)");
  static const std::regex index("#(, #)+");
  return std::regex_replace(std::regex_replace(message, number, "#"), index, "#");
}

std::vector<FailureKind> failure_kinds(const std::vector<CaseResult>& cases) {
  std::vector<FailureKind> kinds;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> known;
  for (const CaseResult& one : cases) {
    if (one.verdict == Verdict::pass) continue;
    FailureKind kind{variant_label(one.op, one.variant), "mistrusted", "", {}};
    if (one.failure) {
      kind.check = check_name(one.failure->check);
      kind.message = without_numbers(one.failure->message);
    }
    const auto [entry, is_new] = known.emplace(std::tuple(kind.label, kind.check, kind.message), kinds.size());
    if (is_new) kinds.push_back(std::move(kind));
    kinds[entry->second].cases.push_back(&one);
  }
  return kinds;
}

}  // namespace assay
