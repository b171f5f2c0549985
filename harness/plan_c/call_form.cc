#include "harness/plan_c/call_form.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace assay {
namespace {

// Passes that tell the variables apart, and some more to hold what was found against.
constexpr RecordedPass kDecode[] = {{true, 0, 1, 0}, {true, 1, 1, 0}, {true, 0, 1, 1}, {true, 7, 1, 3}};
constexpr RecordedPass kPrefill[] = {{false, 0, 2, 0}, {false, 1, 2, 0}, {false, 0, 3, 0},
                                     {false, 0, 2, 1}, {false, 3, 5, 2}, {false, 2, 4, 3}};
constexpr RecordedPass kSharedDecode[] = {{true, 0, 1, 0, 0, 2}, {true, 0, 1, 0, 1, 2}, {true, 3, 1, 2, 2, 3}};
constexpr RecordedPass kSharedPrefill[] = {{false, 0, 4, 0, 0, 2}, {false, 0, 4, 0, 1, 2}, {false, 1, 9, 1, 2, 3}};

using Recorded = std::vector<std::vector<RecordedCall>>;  // by step

// The calls of a step in one pass, or for one row of it.
struct Sample {
  Terms values;
  std::span<const RecordedCall> calls;
};

// The part of a step that a pass was recorded of.
IndexRange part_of(const Shares& shares, const RecordedPass& pass, std::int64_t rows) {
  const std::int64_t total = shares.by_rows ? rows : shares.total;
  const IndexRange units = range_of_part((total + shares.unit - 1) / shares.unit, pass.part, pass.parts);
  return {units.begin * shares.unit, std::min(total, units.end * shares.unit)};
}

class StepSamples {
 public:
  StepSamples(const Plan& plan, const Step& step)
      : step_(step), shares_(shares_of(plan, step)), all_logits_(plan.options.all_logits) {}

  void add(const RecordedPass& pass, std::span<const RecordedCall> calls) {
    if (calls.empty() || (shares_.in_turn && !pass.decode && pass.parts > 1)) return;
    const std::int64_t rows = step_.of_logits && !all_logits_ ? 1 : pass.rows;
    passes_.push_back({{1, pass.position, pass.rows, 0, pass.token}, calls});
    const IndexRange part = part_of(shares_, pass, rows);
    at(passes_.back().values, Variable::begin) = part.begin;
    at(passes_.back().values, Variable::count) = part.count();
  }

  // Whether calls are made for each row by itself: then there are as many times as many.
  bool each_row() const {
    return std::ranges::any_of(passes_, [&](const Sample& one) { return one.calls.size() != passes_.front().calls.size(); });
  }

  std::vector<Sample> samples() const {
    if (!each_row()) return passes_;
    std::vector<Sample> all;
    for (const Sample& pass : passes_) {
      const auto rows = static_cast<std::size_t>(at(pass.values, Variable::count));
      const std::size_t calls = pass.calls.size() / rows;
      for (std::size_t row = 0; row < rows; ++row) {
        all.push_back({pass.values, pass.calls.subspan(row * calls, calls)});
        at(all.back().values, Variable::row) = at(pass.values, Variable::begin) + static_cast<std::int64_t>(row);
      }
    }
    return all;
  }

 private:
  const Step& step_;
  Shares shares_;
  bool all_logits_;
  std::vector<Sample> passes_;
};

// Factors of the variables by least squares over what differs from the first sample, in whole numbers, which must then give all.
class Solver {
 public:
  Solver(const std::vector<Sample>& samples, bool shared) : samples_(samples) {
    for (std::size_t i = 1; i < (shared ? kVariables : static_cast<std::size_t>(Variable::begin)); ++i) {
      const auto differs = [&](const Sample& one) { return one.values[i] != samples[0].values[i]; };
      if (std::ranges::any_of(samples, differs)) varying_.push_back(i);
    }
    Eigen::MatrixXd matrix(std::ssize(samples), std::ssize(varying_));
    for (Eigen::Index row = 0; row < matrix.rows(); ++row) {
      for (Eigen::Index column = 0; column < matrix.cols(); ++column)
        matrix(row, column) = static_cast<double>(difference(row, column));
    }
    solved_.compute(matrix);
  }

  // Nothing: `value` of a sample is no sum of multiples.
  template <class Value>
  bool solve(const Value& value, Terms& terms) const {
    const std::int64_t base = value(samples_[0]);
    terms = {base};
    if (!varying_.empty()) {
      Eigen::VectorXd right(std::ssize(samples_));
      for (Eigen::Index row = 0; row < right.size(); ++row)
        right(row) = static_cast<double>(value(samples_[static_cast<std::size_t>(row)]) - base);
      const Eigen::VectorXd factors = solved_.solve(right);
      for (std::size_t i = 0; i < varying_.size(); ++i) {
        terms[varying_[i]] = std::llround(factors(static_cast<Eigen::Index>(i)));
        terms[0] -= terms[varying_[i]] * samples_[0].values[varying_[i]];
      }
    }
    return std::ranges::all_of(samples_, [&](const Sample& one) {
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < kVariables; ++i) sum += terms[i] * one.values[i];
      return sum == value(one);
    });
  }

 private:
  std::int64_t difference(Eigen::Index row, Eigen::Index column) const {
    const std::size_t variable = varying_[static_cast<std::size_t>(column)];
    return samples_[static_cast<std::size_t>(row)].values[variable] - samples_[0].values[variable];
  }

  const std::vector<Sample>& samples_;
  std::vector<std::size_t> varying_;
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solved_;
};

StepForm form_of(const Step& step, const StepSamples& recorded, bool shared) {
  const std::vector<Sample> samples = recorded.samples();
  const Solver solver(samples, shared);
  StepForm form{{}, recorded.each_row()};
  for (std::size_t c = 0; c < samples[0].calls.size(); ++c) {
    const RecordedCall& first = samples[0].calls[c];
    CallForm call{first.op, first.arguments, std::vector<Terms>(first.arguments.size())};
    for (std::size_t a = 0; a < first.arguments.size(); ++a) {
      const auto value = [&](const Sample& one) { return one.calls[c].arguments.at(a).value; };
      const auto is_alike = [&](const Sample& one) { return one.calls[c].arguments.at(a).kind == first.arguments[a].kind; };
      if (!std::ranges::all_of(samples, is_alike) || !solver.solve(value, call.terms[a]))
        throw std::logic_error(
            fmt::format("{}: {} of {} is no sum of multiples", step.site, first.arguments[a].name, first.op->name));
    }
    form.calls.push_back(std::move(call));
  }
  return form;
}

// A step that threads take pieces of in prefill, whose parts cannot be foreseen: a call's part is as in decode.
void share_as_in_decode(StepForm& form, const StepForm& decode, std::int64_t total) {
  for (std::size_t c = 0; c < form.calls.size(); ++c) {
    for (std::size_t a = 0; a < form.calls[c].terms.size(); ++a) {
      Terms& terms = form.calls[c].terms[a];
      const Terms& parts = decode.calls[c].terms[a];
      at(terms, Variable::begin) = at(parts, Variable::begin);
      at(terms, Variable::count) = at(parts, Variable::count);
      at(terms, Variable::one) -= total * at(parts, Variable::count);
    }
  }
}

}  // namespace

// As the engine has it (engine/run/step_calls.cc), attention of prefill too by kv heads.
Shares shares_of(const Plan& plan, const Step& step) {
  switch (step.kind) {
    case StepKind::linear: {
      const PlannedWeight& weight = plan.weights[static_cast<std::size_t>(step.weight)];
      return {false, weight.stored->rows, weight.layout->group, true};
    }
    case StepKind::attention:
      return {false, plan.config.kv_heads, 1, true};
    case StepKind::kv_store:
      return {false, plan.config.kv_heads, 1, false};
    case StepKind::rope_table:
    case StepKind::embed:
    case StepKind::rms_norm:
    case StepKind::quantize:
    case StepKind::rope:
    case StepKind::add:
    case StepKind::swiglu:
      return {true, 0, 1, false};
  }
  throw std::logic_error("no such kind of step");
}

std::vector<StepForm> call_forms(CallRecorder& recorder, const Plan& plan, bool decode, bool shared) {
  std::vector<RecordedPass> passes;
  const auto take = [&passes](const auto& more) { passes.insert(passes.end(), std::begin(more), std::end(more)); };
  decode ? take(kDecode) : take(kPrefill);
  if (shared) decode ? take(kSharedDecode) : take(kSharedPrefill);
  std::vector<Recorded> recorded;
  for (const RecordedPass& pass : passes) recorded.push_back(recorder.record(pass));
  std::vector<StepForm> forms;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    StepSamples samples(plan, plan.steps[i]);
    for (std::size_t pass = 0; pass < passes.size(); ++pass) samples.add(passes[pass], recorded[pass][i]);
    forms.push_back(form_of(plan.steps[i], samples, shared));
  }
  if (!shared || decode) return forms;
  const std::vector<StepForm> of_decode = call_forms(recorder, plan, true, true);
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const Shares shares = shares_of(plan, plan.steps[i]);
    if (shares.in_turn) share_as_in_decode(forms[i], of_decode[i], shares.total);
  }
  return forms;
}

}  // namespace assay
