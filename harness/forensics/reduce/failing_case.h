// A case that a kernel fails, looked for, and the smallest call that fails like it: what the command and the Python package share.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "harness/forensics/reduce/reduce.h"
#include "harness/verdict/trials.h"

namespace assay {

// The request of one op as reducing needs it: only checks that one call can show, failing calls kept. Throws std::invalid_argument for more
// ops, or for one that has nothing to reduce.
CheckRequest reducible(CheckRequest request);

using ProgressLine = std::function<void(const std::string&)>;

// Runs cases until one fails that can be reduced, and a while longer for a smaller one. None: `stop` said so before. Throws
// std::invalid_argument where nothing fails.
std::optional<CaseResult> failing_case(const CheckRequest& request, const ProgressLine& progress,
                                       const std::function<bool()>& stop);

CallData call_of(const CaseResult& found);
std::int64_t output_count(const CaseResult& result);

struct ReduceLimits {
  std::int64_t most_calls;
  double most_seconds;
  ProgressLine progress = {};
  std::function<bool()> stop = {};
};

Reduction reduce_case(const CaseResult& found, Trials& trials, const CheckRequest& request, const ReduceLimits& limits);

// `call`: that of `found`.
nlohmann::ordered_json reduction_json(const CaseResult& found, const CallData& call, const Reduction& reduction);

}  // namespace assay
