// The steps that know the cache: kv_store and attention.
#include <algorithm>
#include <cmath>

#include "engine/run/step_calls.h"

namespace assay {
namespace {

constexpr std::int64_t kRowBlock = 64;  // the least query rows that threads take in turn

template <class Op>
AssayStatus store(const Chosen& chosen, const KvShape& shape, const KvTarget& target, IndexRange heads, const float* rows,
                  std::int64_t row_stride) {
  typename Op::Args args{};
  args.src = rows + target.token * row_stride + heads.begin * shape.head_dim;
  args.dst = static_cast<decltype(args.dst)>(target.base) + heads.begin * target.capacity * shape.head_dim_padded;
  args.tokens = target.tokens;
  args.n_kv = heads.count();
  args.head_dim = args.src_head_stride = shape.head_dim;
  args.head_dim_padded = shape.head_dim_padded;
  args.capacity = target.capacity;
  args.position = target.slot;
  args.src_row_stride = row_stride;
  return invoke<Op>(chosen, args);
}

// Consecutive query rows against consecutive kv heads, which are the view's first.
struct AttentionCall {
  std::span<const AssayKvSpan> view;
  const float* q;
  float* y;
  std::int64_t rows;
  std::int64_t position;
  std::int64_t n_heads;
  std::int64_t n_kv;
  std::int64_t head_dim;
  std::int64_t window;
  std::int64_t q_row_stride;
  std::int64_t y_row_stride;
};

template <class Op>
AssayStatus attend(const Chosen& chosen, const AttentionCall& call) {
  typename Op::Args args{};
  args.q = call.q;
  args.y = call.y;
  args.spans = call.view.data();
  args.span_count = std::ssize(call.view);
  args.n_heads = call.n_heads;
  args.n_kv = call.n_kv;
  args.head_dim = args.q_head_stride = args.y_head_stride = call.head_dim;
  args.position = call.position;
  args.window = call.window;
  args.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(call.head_dim)));
  args.causal = 1;
  if constexpr (requires { args.rows; }) {
    args.rows = call.rows;
    args.q_row_stride = call.q_row_stride;
    args.y_row_stride = call.y_row_stride;
  }
  return invoke<Op>(chosen, args);
}

}  // namespace

// Threads share the kv heads.
AssayStatus StepCalls::kv_store(std::size_t index, const Pass& pass, int part, int parts) {
  const Step& step = plan_.steps[index];
  const Chosen& chosen = chosen_for(index, pass);
  const KvShape& shape = plan_.kv.shape;
  const auto store_rows = shape.type == KvType::f32 ? store<KvStoreF32> : store<KvStoreF16>;
  const IndexRange heads = range_of_part(shape.n_kv, part, parts);
  AssayStatus status = ASSAY_OK;
  for (const KvSide side : kKvSides) {
    const Operand& rows = step.inputs[side == KvSide::k ? 0 : 1];
    cache_.for_targets(sequence_, step.layer, side, pass.position, pass.rows, [&](const KvTarget& target) {
      if (status == ASSAY_OK) status = store_rows(chosen, shape, target, heads, f32(pass, rows, 0), width(rows));
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
  const bool f32_cache = plan_.kv.shape.type == KvType::f32;
  const Chosen& chosen = chosen_for(index, pass);
  const auto attend_to = [&](IndexRange heads, IndexRange rows) {
    const std::int64_t first_column = heads.begin * group * q.width;
    const std::int64_t position = pass.position_of(step) + rows.begin;
    const AttentionCall call{view_of_heads(part, heads.begin),
                             f32_input(step, pass, 0, rows.begin) + first_column,
                             f32(pass, y, rows.begin) + first_column,
                             rows.count(),
                             position,
                             heads.count() * group,
                             heads.count(),
                             q.width,
                             plan_.options.window,
                             width(q),
                             width(y)};
    if (decode) return (f32_cache ? attend<AttnDecodeF32> : attend<AttnDecodeF16>)(chosen, call);
    return (f32_cache ? attend<AttnPrefillF32> : attend<AttnPrefillF16>)(chosen, call);
  };
  const IndexRange all_heads{0, n_kv};
  const IndexRange all_rows{0, pass.rows_of(step)};
  if (decode || n_kv % parts == 0)
    return share(index, pass, part, parts, n_kv, 1, [&](IndexRange heads) { return attend_to(heads, all_rows); });
  return share(index, pass, part, parts, all_rows.end, kRowBlock, [&](IndexRange rows) { return attend_to(all_heads, rows); });
}

std::span<const AssayKvSpan> StepCalls::view_of_heads(int part, std::int64_t first) {
  if (first == 0) return view_;
  const std::int64_t element = plan_.kv.shape.type == KvType::f32 ? 4 : 2;
  std::vector<AssayKvSpan>& shifted = shifted_[static_cast<std::size_t>(part)];
  shifted.assign(view_.begin(), view_.end());
  for (AssayKvSpan& span : shifted) {
    span.k = static_cast<const char*>(span.k) + first * span.k_head_stride * element;
    span.v = static_cast<const char*>(span.v) + first * span.v_head_stride * element;
  }
  return shifted;
}

}  // namespace assay
