#include "harness/forensics/reduce/reduce.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include "harness/forensics/extract/extract.h"
#include "harness/forensics/reduce/ddmin.h"
#include "harness/reports/failures.h"
#include "harness/verdict/drawn_case.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

// "0 n": what kinds of numbers got and want are, of "y[0] = 0x00000000 (0), expected 0x3f800000 (1)".
std::string classes_in(const std::string& message) {
  std::string classes;
  for (std::size_t at = 0; (at = message.find(" (", at)) != std::string::npos; ++at) {
    const double value = std::strtod(message.c_str() + at + 2, nullptr);
    classes += std::isnan(value) ? "nan " : std::isinf(value) ? "inf " : value == 0 ? "0 " : "n ";
  }
  return classes;
}

// What a failure is told apart by, beside its check.
std::string manner(const Failure& failure) {
  if (failure.check == Check::classes) return classes_in(failure.message);
  const bool of_status = failure.message.starts_with("returned ") || failure.message.starts_with("refused ");
  if (failure.check != Check::guard && !of_status) return {};
  return without_numbers(failure.message.substr(0, failure.message.find(", placed ")));
}

class Search {
 public:
  explicit Search(const ReduceRequest& request)
      : request_(request),
        op_(*request.op),
        // Only the guard needs other layouts than the first.
        checks_(request.failure.check == Check::guard ? reducible_checks(request.checks)
                                                      : request.checks.only({Check::classes, Check::bound, Check::exact})),
        failure_(request.failure),
        best_(request.call) {}

  Reduction run() {
    blind_ = true;  // of the first call nothing is asked but that it fails the same check
    first_ = true;
    if (!still_fails(request_.call))
      throw std::invalid_argument(fmt::format(
          "{} fails {} in the run, but not when this call is made alone: it may depend on calls before it or on threads",
          request_.candidate->name, check_name(failure_.check)));
    first_ = false;
    failure_ = *result_->failure;  // in the run threads may have come first, with other words
    blind_ = result_->trivial;
    for (std::string before; before != state() && !ended();) {
      before = state();
      drop_params();
      drop_items();
      for (const bool inside : {false, true}) simplify(Simple::zero, inside);
      simplify(Simple::one, false);
      simplify(Simple::power_of_two, false);
    }
    return {std::move(best_), std::move(*result_), calls_, seconds(), ended_};
  }

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

  bool ended() {
    ended_ = ended_ || calls_ >= request_.most_calls || seconds() >= request_.most_seconds || (request_.stop && request_.stop());
    return ended_;
  }

  bool is_sought(const Failure& failure) const {
    return first_ ? failure.check == failure_.check : same_manner(failure, failure_);
  }

  // What a round changes.
  std::string state() const {
    std::string text = best_.params.to_string();
    for (const Array& input : best_.inputs) text.append(input.bytes.begin(), input.bytes.end());
    return text;
  }

  // Whether the kernel fails it in the same manner, and, where it was so at first, zeros would not pass. Then it is the best.
  bool still_fails(const CallData& call) {
    try {
      if (status_for(op_, call.params, signature_of(op_, call.params), call.inputs) != ASSAY_OK) return false;
      TestCase test;
      test.name = "reduced";
      test.tags = {"trivial"};  // that zeros would pass is told
      test.params = call.params;
      test.inputs = call.inputs;
      CaseCheck check(op_, std::move(test), nullptr, request_.page, request_.seed);
      CaseResult result = check.check(*request_.candidate, checks_);
      calls_ += std::max<std::int64_t>(result.placements, 1);
      if (!result.failure || !is_sought(*result.failure)) return tell(false);
      if (result.trivial && !blind_) return tell(false);
      best_ = call;
      result_ = std::move(result);
      return tell(true);
    } catch (const std::logic_error&) {  // no such call
      return false;
    }
  }

  bool tell(bool fails) const {
    if (request_.progress) request_.progress({calls_, seconds(), best_.params.to_string(), nonzero_count(best_.inputs)});
    return fails;
  }

  void drop_params() {
    for (const std::string& name : optional_params(op_, best_.params)) {
      if (!ended()) still_fails({without_param(best_.params, name), best_.inputs});
    }
  }

  void drop_items() {
    for (const ShrinkableSize& size : shrinkable_sizes(op_, best_.params)) {
      const CallData whole = best_;
      const auto fails = [&](std::span<const std::size_t> kept) {
        try {
          return still_fails(with_items(op_, whole, size, kept));
        } catch (const std::logic_error&) {
          return false;
        }
      };
      smallest_failing(size.items, fails, [this] { return ended(); });
    }
  }

  void simplify(Simple simple, bool inside) {
    const CallData whole = best_;
    const std::vector<Spot> all = spots(whole.inputs, simple, inside);
    const auto fails = [&](std::span<const std::size_t> kept) { return still_fails(simplified(whole, all, kept, simple)); };
    smallest_failing(all.size(), fails, [this] { return ended(); });
  }

  const ReduceRequest& request_;
  const Op& op_;
  const Checks checks_;
  const Clock::time_point begun_ = Clock::now();
  Failure failure_;
  CallData best_;
  std::optional<CaseResult> result_;
  std::int64_t calls_ = 0;
  bool blind_ = false;  // zeros may pass
  bool first_ = false;
  bool ended_ = false;
};

}  // namespace

bool same_manner(const Failure& one, const Failure& other) {
  return one.check == other.check && manner(one) == manner(other);
}

Reduction reduce(const ReduceRequest& request) {
  return Search(request).run();
}

GoldenCase golden_of(const Op& op, const Reduction& reduction, const std::string& name) {
  GoldenCase golden;
  golden.name = name;
  golden.tags = {"reduced"};
  golden.params = reduction.call.params;
  auto input = reduction.call.inputs.begin();
  for (const TensorSpec& spec : signature_of(op, golden.params).tensors) {
    if (spec.role == Direction::in) golden.inputs[spec.name] = *input++;
  }
  add_truth(op, golden);
  return golden;
}

}  // namespace assay
