#include "engine/run/step_calls.h"

#include <algorithm>
#include <stdexcept>

namespace assay {

StepCalls::StepCalls(const Plan& plan, const std::uint8_t* weights, KvCache& cache, KvCache::Sequence sequence, int parts)
    : plan_(plan),
      weights_(weights),
      cache_(cache),
      sequence_(sequence),
      steps_(plan.steps.size()),
      taken_(plan.steps.size()),
      shifted_(static_cast<std::size_t>(parts)) {
  // A storage's pieces are of 16 positions at least, and a ring's view may have one more at each end.
  for (auto& view : shifted_) view.reserve(static_cast<std::size_t>(ceil_div(plan.options.context, ASSAY_KV_BLOCK) + 2));
  const IsaLimit limit = forced_isa();
  for (std::size_t i = 0; i < steps_.size(); ++i) choose(i, Backend::kernels, limit);
}

void StepCalls::choose(std::size_t step, Backend backend, IsaLimit limit) {
  Call& call = steps_[step];
  call.decode = assay::choose(*plan_.steps[step].decode, limit);
  call.prefill = assay::choose(*plan_.steps[step].prefill, limit);
  call.decode.backend = call.prefill.backend = backend;
}

void StepCalls::replace(std::size_t step, const Chosen& decode, const Chosen& prefill) {
  steps_[step].decode = decode;
  steps_[step].prefill = prefill;
}

AssayStatus StepCalls::run_by_reference(std::size_t step, const Pass& pass, ReferenceSink* sink, Team& team) {
  Call& call = steps_[step];
  const Call own = call;
  call.decode = {.op = plan_.steps[step].decode, .backend = Backend::reference, .name = "reference", .sink = sink};
  call.prefill = call.decode;
  call.prefill.op = plan_.steps[step].prefill;
  taken_[step].reset();  // the kernel may have run
  std::vector<AssayStatus> statuses(static_cast<std::size_t>(team.size()), ASSAY_OK);
  team.run([&](int part) { statuses[static_cast<std::size_t>(part)] = run(step, pass, part, team.size()); });
  taken_[step].reset();  // or be about to
  call = own;
  const auto refused = std::ranges::find_if(statuses, [](AssayStatus status) { return status != ASSAY_OK; });
  return refused == statuses.end() ? ASSAY_OK : *refused;
}

const Chosen& StepCalls::chosen_for(std::size_t step, const Pass& pass) const {
  return pass.layout == &plan_.decode ? steps_[step].decode : steps_[step].prefill;
}

std::int64_t StepCalls::width(const Operand& operand) const {
  return plan_.slots[static_cast<std::size_t>(operand.slot)].width;
}

std::uint8_t* StepCalls::address(const Pass& pass, const Operand& operand) const {
  const auto slot = static_cast<std::size_t>(operand.slot);
  return pass.arena + pass.layout->offsets[slot] +
         operand.column * static_cast<std::int64_t>(dtype_size(plan_.slots[slot].dtype));
}

std::uint8_t* StepCalls::input(const Step& step, const Pass& pass, std::size_t index) const {
  const Operand& operand = step.inputs[index];
  const Slot& slot = plan_.slots[static_cast<std::size_t>(operand.slot)];
  const std::int64_t skipped = step.of_logits && !slot.of_logits ? pass.rows - pass.logit_rows : 0;
  return address(pass, operand) + skipped * slot.width * static_cast<std::int64_t>(dtype_size(slot.dtype));
}

float* StepCalls::f32(const Pass& pass, const Operand& operand, std::int64_t row) const {
  return reinterpret_cast<float*>(address(pass, operand)) + row * width(operand);
}

const float* StepCalls::f32_input(const Step& step, const Pass& pass, std::size_t index, std::int64_t row) const {
  return reinterpret_cast<const float*>(input(step, pass, index)) + row * width(step.inputs[index]);
}

const std::uint8_t* StepCalls::weight(const Step& step) const {
  const PlannedWeight& weight = plan_.weights[static_cast<std::size_t>(step.weight)];
  return weight.in_file ? weight.stored->bytes.data() : weights_ + weight.offset;
}

void StepCalls::begin_pass() {
  for (SharedRange& range : taken_) range.reset();
}

AssayStatus StepCalls::run(std::size_t step, const Pass& pass, int part, int parts) {
  const auto by_rows = [&](auto method) {
    const IndexRange rows = range_of_part(pass.rows_of(plan_.steps[step]), part, parts);
    return rows.count() == 0 ? ASSAY_OK : (this->*method)(step, pass, rows);
  };
  switch (plan_.steps[step].kind) {
    case StepKind::rope_table:
      return by_rows(&StepCalls::rope_table);
    case StepKind::embed:
      return by_rows(&StepCalls::embed);
    case StepKind::rms_norm:
      return by_rows(&StepCalls::rms_norm);
    case StepKind::quantize:
      return by_rows(&StepCalls::quantize);
    case StepKind::linear:
      return linear(step, pass, part, parts);
    case StepKind::rope:
      return by_rows(&StepCalls::rope);
    case StepKind::kv_store:
      return kv_store(step, pass, part, parts);
    case StepKind::attention:
      return attention(step, pass, part, parts);
    case StepKind::add:
      return by_rows(&StepCalls::add);
    case StepKind::swiglu:
      return by_rows(&StepCalls::swiglu);
  }
  throw std::logic_error("no such kind of step");
}

AssayStatus StepCalls::rope_table(std::size_t index, const Pass& pass, IndexRange rows) const {
  const Step& step = plan_.steps[index];
  const Operand& table = step.outputs[0];
  RopeTableArgs args{};
  args.positions = reinterpret_cast<const std::int32_t*>(address(pass, step.inputs[0])) + rows.begin;
  args.cos = f32(pass, table, rows.begin);
  args.sin = args.cos + table.width;
  args.rows = rows.count();
  args.pairs = table.width;
  args.table_stride = width(table);
  args.theta = plan_.config.rope_theta;
  args.recipe = plan_.options.rope;
  return invoke(chosen_for(index, pass), &args);
}

AssayStatus StepCalls::embed(std::size_t index, const Pass& pass, IndexRange rows) const {
  const Step& step = plan_.steps[index];
  const Chosen& chosen = chosen_for(index, pass);
  const Weight& table = *plan_.weights[static_cast<std::size_t>(step.weight)].stored;
  const auto* const ids = reinterpret_cast<const std::int32_t*>(address(pass, step.inputs[0])) + rows.begin;
  float* const y = f32(pass, step.outputs[0], rows.begin);
  if (!is_block(table.dtype)) {
    const EmbedArgs args{table.bytes.data(), ids, y, table.rows, rows.count(), table.cols, table.cols};
    return invoke(chosen, &args);
  }
  const std::int64_t row_bytes = std::ssize(table.bytes) / table.rows;
  AssayStatus status = ASSAY_OK;
  for (std::int64_t j = 0; j < rows.count() && status == ASSAY_OK; ++j) {
    if (ids[j] < 0 || ids[j] >= table.rows) return ASSAY_OUT_OF_RANGE;
    const CodecArgs args{.src = table.bytes.data() + ids[j] * row_bytes,
                         .dst = y + j * table.cols,
                         .rows = 1,
                         .k = table.cols,
                         .src_stride = 0,
                         .dst_stride = 0};
    status = invoke(chosen, &args);
  }
  return status;
}

// A row of heads is as many rows of head_dim.
AssayStatus StepCalls::rms_norm(std::size_t index, const Pass& pass, IndexRange rows) const {
  const Step& step = plan_.steps[index];
  const Operand& x = step.inputs[0];
  const Operand& y = step.outputs[0];
  RmsNormArgs args{};
  args.w = reinterpret_cast<const float*>(weight(step));
  args.eps = static_cast<float>(plan_.config.rms_eps);
  args.n = x.width;
  const bool heads = x.heads > 0;
  args.rows = heads ? x.heads : rows.count();
  args.x_stride = heads ? x.width : width(x);
  args.y_stride = heads ? y.width : width(y);
  for (std::int64_t row = rows.begin; row < rows.end; row += heads ? 1 : rows.count()) {
    args.x = f32_input(step, pass, 0, row);
    args.y = f32(pass, y, row);
    const AssayStatus status = invoke(chosen_for(index, pass), &args);
    if (status != ASSAY_OK) return status;
  }
  return ASSAY_OK;
}

AssayStatus StepCalls::quantize(std::size_t index, const Pass& pass, IndexRange rows) const {
  const Step& step = plan_.steps[index];
  const Operand& x = step.inputs[0];
  const Operand& y = step.outputs[0];
  const std::int64_t block = static_cast<std::int64_t>(dtype_size(plan_.slots[static_cast<std::size_t>(y.slot)].dtype));
  const CodecArgs args{f32_input(step, pass, 0, rows.begin),
                       address(pass, y) + rows.begin * width(y) * block,
                       rows.count(),
                       x.width,
                       width(x),
                       width(y)};
  return invoke(chosen_for(index, pass), &args);
}

// Threads share the weights' rows, in whole groups; a kernel whose layout is its own takes them all at once.
AssayStatus StepCalls::linear(std::size_t index, const Pass& pass, int part, int parts) {
  constexpr std::int64_t kFewRows = 128;  // a gemm prepares the activations anew in each call
  const Step& step = plan_.steps[index];
  const PlannedWeight& planned = plan_.weights[static_cast<std::size_t>(step.weight)];
  const WeightLayout& layout = *planned.layout;
  const Chosen& chosen = chosen_for(index, pass);
  const bool packed = chosen.backend == Backend::kernels && chosen.packed != nullptr;
  if (packed) {
    if (part > 0) return ASSAY_OK;
    parts = 1;
  }
  const std::int64_t rows = pass.rows_of(step);
  if (rows == 0) return ASSAY_OK;
  const Weight& stored = *planned.stored;
  const auto product = [&](IndexRange groups) {
    const std::int64_t begin = groups.begin * layout.group;
    const ProductArgs args{packed ? chosen.packed : weight(step) + groups.begin * layout.group_bytes(stored.cols),
                           input(step, pass, 0),
                           f32(pass, step.outputs[0], 0) + begin,
                           rows,
                           std::min(stored.rows, groups.end * layout.group) - begin,
                           stored.cols,
                           width(step.inputs[0]),
                           width(step.outputs[0])};
    return invoke(chosen, &args);
  };
  const std::int64_t groups = layout.groups(stored.rows);
  const std::int64_t least = std::clamp<std::int64_t>(groups / (2 * parts), 1, ceil_div(kFewRows, layout.group));
  return share(index, pass, part, parts, groups, least, product);
}

AssayStatus StepCalls::rope(std::size_t index, const Pass& pass, IndexRange rows) const {
  const Step& step = plan_.steps[index];
  const Operand& x = step.inputs[0];
  const Operand& table = step.inputs[1];
  RopeArgs args{};
  args.x = f32_input(step, pass, 0, rows.begin);
  args.y = f32(pass, step.outputs[0], rows.begin);
  args.cos = f32_input(step, pass, 1, rows.begin);
  args.sin = args.cos + table.width;
  args.rows = rows.count();
  args.heads = x.heads;
  args.head_dim = args.rot_dim = x.width;
  args.components = 1;
  args.x_row_stride = width(x);
  args.y_row_stride = width(step.outputs[0]);
  args.x_head_stride = args.y_head_stride = x.width;
  args.table_stride = width(table);
  args.pairing = ASSAY_ROPE_SPLIT;
  return invoke(chosen_for(index, pass), &args);
}

AssayStatus StepCalls::add(std::size_t index, const Pass& pass, IndexRange rows) const {
  const Step& step = plan_.steps[index];
  const std::int64_t n = width(step.outputs[0]);
  const AddArgs args{f32_input(step, pass, 0, rows.begin), f32_input(step, pass, 1, rows.begin),
                     f32(pass, step.outputs[0], rows.begin), rows.count() * n};
  return invoke(chosen_for(index, pass), &args);
}

AssayStatus StepCalls::swiglu(std::size_t index, const Pass& pass, IndexRange rows) const {
  const Step& step = plan_.steps[index];
  const Operand& y = step.outputs[0];
  const SwigluArgs args{f32_input(step, pass, 0, rows.begin),
                        f32_input(step, pass, 1, rows.begin),
                        f32(pass, y, rows.begin),
                        rows.count(),
                        y.width,
                        width(step.inputs[0]),
                        width(step.inputs[1]),
                        width(y)};
  return invoke(chosen_for(index, pass), &args);
}

}  // namespace assay
