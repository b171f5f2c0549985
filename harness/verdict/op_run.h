// The cases of one op, held to every kernel on trial.
#pragma once

#include <functional>
#include <vector>

#include "harness/verdict/check.h"

namespace assay {

// How to come by a case that is to be run.
using Source = std::function<TestCase()>;

struct OpRun {
  const Op& op;
  const std::vector<Candidate>& candidates;
  const Checks& checks;
  const Ledger* ledger;
  std::size_t page;
  std::uint64_t seed;
  // The op's kernels have not been called in this process: threads race the first case that suits them, those read until then wait, and the
  // smallest case is called many times at the end.
  bool first;
  std::function<void(CaseResult&)> done;  // told each result when it is there
};

// 0 .. count - 1 in the seed's order.
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed);

// In an order that no kernel can count on, the seed's; the results in that of the sources.
std::vector<CaseResult> run_cases(const OpRun& run, const std::vector<Source>& sources);

}  // namespace assay
