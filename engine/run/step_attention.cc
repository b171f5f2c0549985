// The steps that know the cache: kv_store and attention.
#include <algorithm>
#include <cmath>

#include "engine/run/step_calls.h"

namespace assay {
namespace {

constexpr std::int64_t kRowBlock = 64;  // the least query rows that threads take in turn

}  // namespace

// Threads share the kv heads.
AssayStatus StepCalls::kv_store(std::size_t index, const Pass& pass, int part, int parts) {
  const Step& step = plan_.steps[index];
  const Chosen& chosen = chosen_for(index, pass);
  const KvShape& shape = plan_.kv.shape;
  const IndexRange heads = range_of_part(shape.n_kv, part, parts);
  AssayStatus status = ASSAY_OK;
  for (const KvSide side : kKvSides) {
    const Operand& rows = step.inputs[side == KvSide::k ? 0 : 1];
    cache_.for_targets(sequence_, step.layer, side, pass.position, pass.rows, [&](const KvTarget& target) {
      const KvRows of_heads{f32(pass, rows, 0) + heads.begin * shape.head_dim, width(rows), shape.head_dim};
      const KvStoreArgs args = store_args(shape, target, of_heads, heads.begin, heads.count());
      if (status == ASSAY_OK) status = invoke(chosen, &args);
    });
  }
  if (part == 0) view_ = cache_.view(sequence_, step.layer);
  return status;
}

// Threads share the kv heads where these come out even, else blocks of rows.
AssayStatus StepCalls::attention(std::size_t index, const Pass& pass, int part, int parts) {
  const Step& step = plan_.steps[index];
  const Operand& q = step.inputs[0];
  const Operand& y = step.outputs[0];
  const std::int64_t n_kv = plan_.config.kv_heads;
  const std::int64_t group = plan_.config.heads / n_kv;
  const bool decode = pass.layout == &plan_.decode;
  const Chosen& chosen = chosen_for(index, pass);
  const auto attend_to = [&](IndexRange heads, IndexRange rows) {
    const std::int64_t first_column = heads.begin * group * q.width;
    const std::span<const AssayKvSpan> view = view_of_heads(part, heads.begin);
    AttentionArgs args{};
    args.q = f32_input(step, pass, 0, rows.begin) + first_column;
    args.spans = view.data();
    args.y = f32(pass, y, rows.begin) + first_column;
    args.rows = rows.count();
    args.n_heads = heads.count() * group;
    args.n_kv = heads.count();
    args.head_dim = args.q_head_stride = args.y_head_stride = q.width;
    args.position = pass.position_of(step) + rows.begin;
    args.window = plan_.options.window;
    args.span_count = std::ssize(view);
    args.q_row_stride = width(q);
    args.y_row_stride = width(y);
    args.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(q.width)));
    args.causal = 1;
    return invoke(chosen, &args);
  };
  const IndexRange all_heads{0, n_kv};
  const IndexRange all_rows{0, pass.rows_of(step)};
  if (decode || n_kv % parts == 0)
    return share(index, pass, part, parts, n_kv, 1, [&](IndexRange heads) { return attend_to(heads, all_rows); });
  return share(index, pass, part, parts, all_rows.end, kRowBlock, [&](IndexRange rows) { return attend_to(all_heads, rows); });
}

std::span<const AssayKvSpan> StepCalls::view_of_heads(int part, std::int64_t first) {
  if (first == 0) return view_;
  const auto element = static_cast<std::int64_t>(dtype_size(plan_.kv.shape.type));
  std::vector<AssayKvSpan>& shifted = shifted_[static_cast<std::size_t>(part)];
  shifted.assign(view_.begin(), view_.end());
  for (AssayKvSpan& span : shifted) {
    span.k = static_cast<const char*>(span.k) + first * span.k_head_stride * element;
    span.v = static_cast<const char*>(span.v) + first * span.v_head_stride * element;
  }
  return shifted;
}

}  // namespace assay
