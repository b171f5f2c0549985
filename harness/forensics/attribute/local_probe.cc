#include "harness/forensics/attribute/local_probe.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "engine/run/site_rows.h"
#include "engine/run/step_calls.h"
#include "harness/forensics/model/wiring.h"
#include "reference/convert.h"

namespace assay {
namespace {

void append_rows(Array& all, const Array& more) {
  if (all.shape.empty()) {
    all = more;
    return;
  }
  all.bytes.insert(all.bytes.end(), more.bytes.begin(), more.bytes.end());
  all.shape[0] += more.shape[0];
}

TensorSpec spec_of(const Step& step, const Array& y) {
  TensorSpec spec;
  spec.name = step.site;
  spec.dtype = y.dtype;
  spec.shape = y.shape;
  return spec;
}

// Truth and bound of a view's elements, in its order.
reference::Expected expected_of(const RowsView& view, const ReferenceSink& sink) {
  reference::Expected expected;
  const std::int64_t width = std::accumulate(view.shape.begin(), view.shape.end(), std::int64_t{1}, std::multiplies());
  for (std::int64_t row = 0; row < view.rows; ++row) {
    const auto* const first = reinterpret_cast<const float*>(view.data + row * view.row_stride);
    const auto begin = first - sink.base;
    const auto append = [&](auto& out, const auto& from) {
      out.insert(out.end(), from.begin() + begin, from.begin() + begin + width);
    };
    append(expected.value, sink.value);
    append(expected.bound, sink.bound);
    append(expected.bits_only, sink.bits_only);
  }
  return expected;
}

// f32 to f16.
std::vector<std::uint8_t> narrowed(const std::vector<std::uint8_t>& numbers) {
  std::vector<std::uint8_t> out(numbers.size() / 2);
  for (std::size_t i = 0; i < numbers.size() / sizeof(float); ++i) {
    float wide;
    std::memcpy(&wide, numbers.data() + i * sizeof(float), sizeof(float));
    const std::uint16_t half = reference::narrow<reference::Half>(wide);
    std::memcpy(out.data() + i * sizeof(half), &half, sizeof(half));
  }
  return out;
}

bool is_exact(const Step& step) {
  return step.prefill->contract->exactness == reference::Exactness::exact;
}

// K's rows, then V's, in the cache's type.
Array stored_by_definition(const StepRun& run) {
  const DType type = run.plan.kv.shape.type;
  Array array{type, run.inputs[0].shape, {}};
  array.shape.insert(array.shape.begin(), {run.rows, 2});
  for (std::int64_t row = 0; row < run.rows; ++row) {
    for (const RowsView& view : run.inputs) {
      std::vector<std::uint8_t> numbers;
      append_row(view, row, numbers);
      if (type == DType::f16) numbers = narrowed(numbers);
      array.bytes.insert(array.bytes.end(), numbers.begin(), numbers.end());
    }
  }
  return array;
}

}  // namespace

LocalProbe::LocalProbe(Engine& engine)
    : engine_(engine),
      errors_(engine.plan().steps.size()),
      by_reference_(engine.plan().steps.size()),
      by_kernel_(engine.plan().steps.size()) {}

Array LocalProbe::dense(const RowsView& view) const {
  Array array{view.dtype, view.shape, {}};
  array.shape.insert(array.shape.begin(), view.rows);
  for (std::int64_t row = 0; row < view.rows; ++row) append_row(view, row, array.bytes);
  return array;
}

// The reference runs in the arena, which is put back: the kernel finds what it would have found. Into the cache it writes nothing: a
// row that the kernel fails to store would be there by the reference.
void LocalProbe::before(const StepRun& run) {
  if (run.index == 0) written_.clear();
  check_inputs(run);
  if (formula_of(run.step()) == Formula::kv_store) {
    want_ = stored_by_definition(run);
  } else {
    run_reference(run);
  }
  under_way_ = run.index;
}

void LocalProbe::run_reference(const StepRun& run) {
  const Pass& pass = *run.pass;
  arena_.assign(pass.arena, pass.arena + pass.layout->bytes);
  ReferenceSink* sink = nullptr;
  if (!is_exact(run.step())) {
    const RowsView& out = run.outputs[0];
    sink_.reset(reinterpret_cast<const float*>(out.data), out.rows * out.row_stride / static_cast<std::int64_t>(sizeof(float)));
    sink = &sink_;
  }
  const AssayStatus status = engine_.calls().run_by_reference(run.index, pass, sink);
  if (status == ASSAY_OK) {
    want_ = dense(run.outputs[0]);
    if (sink != nullptr) expected_ = expected_of(run.outputs[0], sink_);
  }
  std::memcpy(pass.arena, arena_.data(), arena_.size());
  if (status != ASSAY_OK) throw EngineError(run.step().site + ": its reference refuses its inputs");
}

void LocalProbe::stopped(const EngineError& error) {
  if (under_way_) errors_[*under_way_].refusal = error.what();
}

void LocalProbe::after(const StepRun& run) {
  under_way_.reset();
  const Array y = dense(run.outputs[0]);
  compare(run, y, want_);
  append_rows(by_kernel_[run.index], y);
  append_rows(by_reference_[run.index], want_);
  remember_outputs(run);
}

void LocalProbe::compare(const StepRun& run, const Array& y, const Array& want) {
  LocalError& error = errors_[run.index];
  const TensorSpec spec = spec_of(run.step(), y);
  const Comparison now = is_exact(run.step()) ? compare_bytes(spec, y, {want, {}}, false)
                                              : compare_bounded(spec, y, expected_, reference::BiasUnit::none,
                                                                run.step().prefill->contract->keeps_sign);
  const bool worse = now.margin > error.comparison.margin || (now.wrong_class && !error.comparison.wrong_class);
  error.comparison.add(now);
  error.variant = engine_.calls().chosen(run.index, run.rows == 1 && run.pass->layout == &run.plan.decode).name;
  const auto& at = now.wrong_class ? now.wrong_class : now.worst;
  if (worse && at) error.row = run.position + at->index / (y.elements() / std::max<std::int64_t>(y.shape[0], 1));
}

// A slot's rows are followed column by column: what a step reads must be what was last written there.
void LocalProbe::check_inputs(const StepRun& run) {
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    const RowsView& view = run.inputs[i];
    const Operand& operand = run.step().inputs[i];
    const auto known = written_.find(operand.slot);
    if (known == written_.end() || run.step().of_logits) continue;
    const Slot& slot = run.plan.slots[static_cast<std::size_t>(operand.slot)];
    const auto element = static_cast<std::int64_t>(dtype_size(slot.dtype));
    for (std::int64_t row = 0; row < view.rows; ++row) {
      const std::uint8_t* const want = known->second.data() + (row * slot.width + operand.column) * element;
      if (std::memcmp(view.data + row * view.row_stride, want, static_cast<std::size_t>(operand.columns() * element)) == 0)
        continue;
      errors_[run.index].clobbered = slot.name + ", row " + std::to_string(run.position + row);
      break;
    }
  }
}

void LocalProbe::remember_outputs(const StepRun& run) {
  for (std::size_t i = 0; i < run.step().outputs.size(); ++i) {
    const RowsView& view = run.outputs[i];
    const Operand& operand = run.step().outputs[i];
    const Slot& slot = run.plan.slots[static_cast<std::size_t>(operand.slot)];
    const auto element = static_cast<std::int64_t>(dtype_size(slot.dtype));
    auto& rows = written_[operand.slot];
    rows.resize(static_cast<std::size_t>(run.pass->rows * slot.width * element));
    for (std::int64_t row = 0; row < view.rows; ++row) {
      std::memcpy(rows.data() + (row * slot.width + operand.column) * element, view.data + row * view.row_stride,
                  static_cast<std::size_t>(operand.columns() * element));
    }
  }
}

}  // namespace assay
