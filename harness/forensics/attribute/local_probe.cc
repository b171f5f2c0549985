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

constexpr std::int64_t kRowsCompared = 16;  // at a time, by a thread

Array dense(const RowsView& view) {
  Array array{view.dtype, view.shape, {}};
  array.shape.insert(array.shape.begin(), view.rows);
  for (std::int64_t row = 0; row < view.rows; ++row) append_row(view, row, array.bytes);
  return array;
}

Array some_rows(const Array& all, IndexRange rows) {
  Array some{all.dtype, all.shape, {}};
  const std::int64_t bytes = std::ssize(all.bytes) / all.shape[0];
  some.shape[0] = rows.count();
  some.bytes.assign(all.bytes.begin() + rows.begin * bytes, all.bytes.begin() + rows.end * bytes);
  return some;
}

// What `dense` took, put back.
void restore(const StepRun& run, const RowsView& view, const Array& array) {
  std::uint8_t* const arena = run.pass->arena + (view.data - run.pass->arena);
  const std::size_t bytes = array.bytes.size() / static_cast<std::size_t>(std::max<std::int64_t>(view.rows, 1));
  for (std::int64_t row = 0; row < view.rows; ++row)
    std::memcpy(arena + row * view.row_stride, array.bytes.data() + static_cast<std::size_t>(row) * bytes, bytes);
}

TensorSpec spec_of(const Step& step, const Array& y) {
  TensorSpec spec;
  spec.name = step.site;
  spec.dtype = y.dtype;
  spec.shape = y.shape;
  return spec;
}

// Truth and bound of some rows of a view, in its order.
reference::Expected expected_of(const RowsView& view, IndexRange rows, const ReferenceSink& sink) {
  reference::Expected expected;
  const std::int64_t width = std::accumulate(view.shape.begin(), view.shape.end(), std::int64_t{1}, std::multiplies());
  for (std::int64_t row = rows.begin; row < rows.end; ++row) {
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

LocalProbe::LocalProbe(Engine& engine, const std::vector<std::int32_t>& positions)
    : engine_(engine),
      positions_(positions),
      errors_(engine.plan().steps.size()),
      by_reference_(engine.plan().steps.size()),
      by_kernel_(engine.plan().steps.size()) {}

void LocalProbe::keep(const StepRun& run, const Array& rows, Array& kept) const {
  if (kept.shape.empty()) {
    kept.dtype = rows.dtype;
    kept.shape = rows.shape;
    kept.shape[0] = 0;
  }
  const std::size_t bytes = rows.bytes.size() / static_cast<std::size_t>(run.rows);
  for (std::int64_t row = 0; row < run.rows; ++row) {
    if (!std::ranges::binary_search(positions_, static_cast<std::int32_t>(run.position + row))) continue;
    const auto first = rows.bytes.begin() + row * static_cast<std::int64_t>(bytes);
    kept.bytes.insert(kept.bytes.end(), first, first + static_cast<std::int64_t>(bytes));
    ++kept.shape[0];
  }
}

// The reference writes where the kernel will, which is put back: the kernel finds what it would have found. Into the cache it writes
// nothing: a row that the kernel fails to store would be there by the reference.
void LocalProbe::before(const StepRun& run) {
  if (progress_) progress_(run);
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
  const RowsView& out = run.outputs[0];
  const Array before = dense(out);
  ReferenceSink* sink = nullptr;
  if (!is_exact(run.step())) {
    sink_.reset(reinterpret_cast<const float*>(out.data), out.rows * out.row_stride / static_cast<std::int64_t>(sizeof(float)));
    sink = &sink_;
  }
  const AssayStatus status = engine_.calls().run_by_reference(run.index, pass, sink, engine_.team());
  if (status == ASSAY_OK) {
    want_ = dense(out);
  }
  restore(run, out, before);
  if (status != ASSAY_OK) throw EngineError(run.step().site + ": its reference refuses its inputs");
}

void LocalProbe::stopped(const EngineError& error) {
  if (under_way_) errors_[*under_way_].refusal = error.what();
}

void LocalProbe::after(const StepRun& run) {
  under_way_.reset();
  const Array y = dense(run.outputs[0]);
  compare(run, y);
  keep(run, y, by_kernel_[run.index]);
  keep(run, want_, by_reference_[run.index]);
  remember_outputs(run);
}

void LocalProbe::compare(const StepRun& run, const Array& y) {
  std::vector<Comparison> blocks(static_cast<std::size_t>((run.rows + kRowsCompared - 1) / kRowsCompared));
  parallel_blocks(engine_.team(), run.rows, kRowsCompared, [&](std::int64_t begin, std::int64_t end) {
    blocks[static_cast<std::size_t>(begin / kRowsCompared)] = compare_rows(run, {begin, end}, y);
  });
  LocalError& error = errors_[run.index];
  error.variant = engine_.calls().chosen(run.index, run.rows == 1 && run.pass->layout == &run.plan.decode).name;
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    const Comparison& now = blocks[block];
    const bool worse = now.margin > error.comparison.margin || (now.wrong_class && !error.comparison.wrong_class);
    error.comparison.add(now);
    const auto& at = now.wrong_class ? now.wrong_class : now.worst;
    if (worse && at)
      error.row = run.position + static_cast<std::int64_t>(block) * kRowsCompared + at->index / (y.elements() / y.shape[0]);
  }
}

Comparison LocalProbe::compare_rows(const StepRun& run, IndexRange rows, const Array& y) const {
  const Array got = some_rows(y, rows);
  const TensorSpec spec = spec_of(run.step(), got);
  if (is_exact(run.step())) return compare_bytes(spec, got, {some_rows(want_, rows), {}}, false);
  return compare_bounded(spec, got, expected_of(run.outputs[0], rows, sink_), reference::BiasUnit::none,
                         run.step().prefill->contract->keeps_sign);
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
