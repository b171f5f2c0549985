#include "harness/reports/ci/problems.h"

#include <span>

#include "golden/sha256.h"

namespace assay {

std::vector<Problem> problems_of(const SuiteResult& result) {
  const std::map<std::string, SourcePlace> places = places_of_problems(result);
  std::vector<Problem> out;
  for (const CaseResult& one : result.cases) {
    if (one.verdict == Verdict::pass) continue;
    Problem problem{&one, variant_label(one.op, one.variant), kMistrusted, kMistrustedMeans, {}, {}};
    if (one.failure) {
      problem.rule = check_name(one.failure->check);
      problem.message = one.failure->message;
    }
    problem.place = places.at(problem.variant);
    const std::string key = problem.variant + '\n' + one.case_name + '\n' + problem.rule;
    problem.fingerprint = sha256(std::span(reinterpret_cast<const std::uint8_t*>(key.data()), key.size()));
    out.push_back(std::move(problem));
  }
  return out;
}

}  // namespace assay
