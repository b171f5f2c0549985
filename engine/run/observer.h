// Looking at a run: before and after each step of a pass. What an observer sees is there to be read; it changes nothing, and a
// run with it has the bits of a run without.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/plan/plan.h"

namespace assay {

struct Pass;

// Rows of a tensor in the arena: row r at data + r * row_stride bytes, `shape` of a row dense within it.
struct RowsView {
  const std::uint8_t* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t rows = 0;
  std::int64_t row_stride = 0;      // in bytes
  std::vector<std::int64_t> shape;  // of a row: [width], [heads, width], or blocks
};

// The run of a step over the tokens position .. position + rows - 1.
struct StepRun {
  const Plan& plan;
  std::size_t index;      // of the step
  std::int64_t position;  // of the first row of the step's tensors
  std::int64_t rows;
  // Inputs, then outputs, in the step's order; for kv_store an output of its own: the rows as stored, [2, n_kv, head_dim], K first.
  std::span<const RowsView> inputs;
  std::span<const RowsView> outputs;
  const Pass* pass;  // for who runs the step's calls again (StepCalls::run)

  const Step& step() const { return plan.steps[index]; }
};

class Observer {
 public:
  virtual ~Observer() = default;
  // Asked once a step and pass. Steps that no observer wants cost nothing.
  virtual bool wants(const Step& step) const = 0;
  virtual void before(const StepRun&) {}
  virtual void after(const StepRun&) {}
};

}  // namespace assay
