#include "harness/forensics/reduce/failing_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/forensics/reduce/shrink.h"
#include "harness/reports/report.h"

namespace assay {
namespace {

constexpr std::size_t kKeptBytes = std::size_t{1} << 30;
constexpr double kLookSeconds = 10;  // for a failing case that is smaller than the first

class Finder final : public SuiteWatch {
 public:
  Finder(const ProgressLine& progress, const std::function<bool()>& stop) : progress_(progress), stop_(stop) {}

  void progress(const SuiteProgress& now) override {
    progress_(fmt::format("{} cases: looking for one that fails", now.cases_done));
  }
  void case_done(const CaseResult& one) override {
    if (!one.failure) return;
    other_ = one.case_name;
    if (one.call && (!found_ || one.call->bytes() < found_->call->bytes())) found_ = one;
  }
  bool stop() override {
    const std::chrono::duration<double> past = std::chrono::steady_clock::now() - begun_;
    return stop_() || (found_ && past.count() > kLookSeconds);
  }

  // Throws std::invalid_argument where nothing was found.
  CaseResult found(const std::string& op) const {
    if (found_) return *found_;
    if (!other_.empty())
      throw std::invalid_argument(
          fmt::format("{}: '{}' fails, but asks for a refusal or is no single call: there is nothing to reduce", op, other_));
    throw std::invalid_argument(fmt::format("{}: no case fails classes, bound, exact or guard: there is nothing to reduce", op));
  }

 private:
  const ProgressLine& progress_;
  const std::function<bool()>& stop_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::optional<CaseResult> found_;
  std::string other_;
};

}  // namespace

CheckRequest reducible(CheckRequest request) {
  if (request.ops.size() != 1) throw std::invalid_argument(fmt::format("reduce: {} ops; expected one", request.ops.size()));
  const Op& op = require_op(request.ops.front());
  if (op.contract->exactness == reference::Exactness::encoded)
    throw std::invalid_argument(
        fmt::format("{}: its blocks' bytes are free, and a golden would have to hold some encoder's", op.name));
  request.checks = reducible_checks(request.checks);
  request.kept_bytes = kKeptBytes;
  return request;
}

std::optional<CaseResult> failing_case(const CheckRequest& request, const ProgressLine& progress,
                                       const std::function<bool()>& stop) {
  Finder finder(progress, stop);
  run_suite(request, finder);
  if (stop()) return std::nullopt;
  return finder.found(request.ops.front());
}

CallData call_of(const CaseResult& found) {
  CallData call{found.params, {}};
  for (const Array& input : found.call->inputs) call.inputs.push_back(input);
  return call;
}

std::int64_t output_count(const CaseResult& result) {
  std::int64_t count = 0;
  for (const Array& one : result.call->outputs) count += one.elements();
  return count;
}

Reduction reduce_case(const CaseResult& found, Trials& trials, const CheckRequest& request, const ReduceLimits& limits) {
  const Op& op = require_op(found.op);
  const auto& candidates = trials.of(op);
  const auto candidate = std::ranges::find(candidates, found.variant, &Candidate::name);
  return reduce({.op = &op,
                 .candidate = &*candidate,
                 .call = call_of(found),
                 .failure = *found.failure,
                 .checks = request.checks,
                 .page = trials.page(),
                 .seed = request.seed,
                 .most_calls = limits.most_calls,
                 .most_seconds = limits.most_seconds,
                 .progress =
                     [&limits](const ReduceProgress& now) {
                       if (!limits.progress) return;
                       limits.progress(fmt::format("{} calls, {:.0f} s: {}, {} numbers not 0", now.calls, now.seconds, now.call,
                                                   now.nonzero));
                     },
                 .stop = limits.stop});
}

nlohmann::ordered_json reduction_json(const CaseResult& found, const CallData& call, const Reduction& reduction) {
  nlohmann::ordered_json json = environment_json();
  json["op"] = found.op;
  json["variant"] = found.variant;
  json["check"] = check_name(found.failure->check);
  const auto one = [](const CallData& data, const CaseResult& result) {
    return nlohmann::ordered_json{{"params", data.params.to_string()},
                                  {"nonzero", nonzero_count(data.inputs)},
                                  {"outputs", output_count(result)},
                                  {"message", result.failure->message}};
  };
  json["from"] = one(call, found);
  json["from"]["case"] = found.case_name;
  json["reduced"] = one(reduction.call, reduction.result);
  json["calls"] = reduction.calls;
  json["seconds"] = reduction.seconds;
  json["ended_early"] = reduction.ended_early;
  return json;
}

}  // namespace assay
