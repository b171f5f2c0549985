// Every step of a run against the reference of its op on the very inputs that it had: what a step adds to the error by itself.
// And whether those inputs are still what their sites gave.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/run/engine.h"
#include "engine/run/observer.h"
#include "harness/verdict/compare.h"
#include "reference/ops/op.h"

namespace assay {

// Of all passes of one prompt.
struct LocalError {
  Comparison comparison;  // in bounds of the op's contract; exact ops: a byte that differs is infinitely far
  std::int64_t row = 0;   // the token of the worst output
  std::string clobbered;  // not empty: an input that is not what its site gave
  std::string refusal;    // not empty: the kernel refused what the reference takes
  std::string variant;    // what ran
  bool guilty() const { return comparison.margin > 1 || comparison.wrong_class.has_value() || !refusal.empty(); }
};

// Sites by their place in the plan.
class LocalProbe final : public Observer {
 public:
  // Keeps the rows of `positions`, ascending; compares those of all tokens. Both must outlive the object.
  LocalProbe(Engine& engine, const std::vector<std::int32_t>& positions);

  bool wants(const Step&) const override { return true; }
  void before(const StepRun& run) override;
  void after(const StepRun& run) override;

  // Called before each step.
  void tell(std::function<void(const StepRun&)> progress) { progress_ = std::move(progress); }

  // A pass ended with this error: if a kernel was under way, it was that kernel's refusal.
  void stopped(const EngineError& error);

  const std::vector<LocalError>& errors() const { return errors_; }
  // By the reference on the step's own inputs, as f32 where it is not exact; dense rows, empty where no pass came to.
  const std::vector<Array>& by_reference() const { return by_reference_; }
  const std::vector<Array>& by_kernel() const { return by_kernel_; }

 private:
  void run_reference(const StepRun& run);
  void check_inputs(const StepRun& run);
  void remember_outputs(const StepRun& run);
  void keep(const StepRun& run, const Array& rows, Array& kept) const;
  void compare(const StepRun& run, const Array& y);
  Comparison compare_rows(const StepRun& run, IndexRange rows, const Array& y) const;

  Engine& engine_;
  const std::vector<std::int32_t>& positions_;
  std::vector<LocalError> errors_;
  std::vector<Array> by_reference_;
  std::vector<Array> by_kernel_;
  std::optional<std::size_t> under_way_;
  std::function<void(const StepRun&)> progress_;
  // Of the step under way.
  ReferenceSink sink_;
  Array want_;
  // The last that was written to each slot's columns, row by row.
  std::map<int, std::vector<std::uint8_t>> written_;
};

}  // namespace assay
