// Why a kernel fails: the simplest other computation that agrees with it in every case, those that it fails and those that it passes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/forensics/explain/evidence.h"
#include "harness/verdict/suite.h"

namespace assay::why {

struct Explanation {
  std::string name;  // "without-last:k"
  std::string kind;
  std::string words;
  std::string_view law;  // the line of the op's header that it breaks
  std::string when;      // in which calls, where not in all; else empty
  std::string when_kind;
  std::string when_of;     // the size or tensor
  std::string properties;  // that would declare it; else empty
  Says says = Says::what;
  int cost = 0;
  double margin = 0;  // the largest that it leaves in a case that fails

  bool only_where() const { return says != Says::what; }
};

// What explains some cases, or most of the error.
struct Near {
  std::string name;
  std::string words;
  std::size_t explained = 0;  // of the cases that fail
  std::size_t broken = 0;     // of those that pass and would not
  double margin = 0;          // the largest that it leaves in a case that fails; before it was
  double before = 0;
  std::string against;  // the first case that it does not fit
};

struct KernelExplanation {
  std::string variant;
  std::vector<std::string> failing;  // cases that fail classes, bound or exact by their values
  std::size_t passing = 0;
  std::size_t otherwise = 0;      // cases that fail by what no computation explains: a crash, a status
  std::size_t unheld = 0;         // cases that pass and were too large to keep
  std::vector<Explanation> told;  // the simplest, all that are equally simple
  std::string
      permits;  // the declaration that widens the bound least and under which every case passes, where nothing else says why
  std::vector<Near> near;  // where there is none
  std::size_t tried = 0;   // hypotheses
  bool ended_early = false;
};

struct ExplainRequest {
  CheckRequest check;  // of one op
  double most_seconds = 300;
  std::function<void(const std::string&)> progress = [](const std::string&) {};
  std::function<bool()> stop = [] { return false; };
};

struct ExplainResult {
  std::string op;
  std::string header;
  std::string runner;
  std::vector<KernelExplanation> kernels;  // those that fail
  std::vector<Skip> skips;
};

// Throws as run_suite.
ExplainResult explain_op(const ExplainRequest& request);

// Of one kernel's cases that are known already; `request.check` is not looked at.
KernelExplanation explain_cases(const Op& op, const std::vector<Evidence>& cases, const ExplainRequest& request);

}  // namespace assay::why
