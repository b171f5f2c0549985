// The steps that know the cache: kv_store and attention.
#include <algorithm>
#include <cmath>

#include "engine/run/step_calls.h"

namespace assay {
namespace {

constexpr std::int64_t kRowBlock = 64;  // query rows that threads take in turn: under a causal mask later rows cost more

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

// Threads share the kv heads where these come out even, else blocks of rows in turn.
AssayStatus StepCalls::attention(std::size_t index, const Pass& pass, int part, int parts) {
  const Step& step = plan_.steps[index];
  const Operand& q = step.inputs[0];
  const Operand& y = step.outputs[0];
  const std::int64_t n_kv = plan_.config.kv_heads;
  const bool decode = pass.layout == &plan_.decode;
  const bool by_heads = decode || n_kv % parts == 0;
  const IndexRange heads = by_heads ? range_of_part(n_kv, part, parts) : IndexRange{0, n_kv};
  if (heads.count() == 0) return ASSAY_OK;

  const std::int64_t group = plan_.config.heads / n_kv;
  const std::int64_t first_column = heads.begin * group * q.width;
  const std::int64_t rows = pass.rows_of(step);
  const std::int64_t position = pass.position_of(step);
  AttentionCall call{view_of_heads(part, heads.begin),
                     f32_input(step, pass, 0, 0) + first_column,
                     f32(pass, y, 0) + first_column,
                     rows,
                     position,
                     heads.count() * group,
                     heads.count(),
                     q.width,
                     plan_.options.window,
                     width(q),
                     width(y)};
  const Chosen& chosen = chosen_for(index, pass);
  const bool f32_cache = plan_.kv.shape.type == KvType::f32;
  if (decode) return (f32_cache ? attend<AttnDecodeF32> : attend<AttnDecodeF16>)(chosen, call);
  const auto prefill = f32_cache ? attend<AttnPrefillF32> : attend<AttnPrefillF16>;
  if (by_heads) return prefill(chosen, call);
  for (std::int64_t row = part * kRowBlock; row < rows; row += parts * kRowBlock) {
    call.q = f32_input(step, pass, 0, row);
    call.y = f32(pass, y, row);
    call.rows = std::min(kRowBlock, rows - row);
    call.position = position + row;
    const AssayStatus status = prefill(chosen, call);
    if (status != ASSAY_OK) return status;
  }
  return ASSAY_OK;
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
