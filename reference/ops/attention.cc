#include "reference/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "reference/ops/attention_cases.h"
#include "reference/ops/describe.h"
#include "reference/ops/find.h"
#include "reference/ops/view_layout.h"

namespace assay {
namespace {

using A = AttentionArgs;
using enum FieldKind;

std::int64_t heads(const Op&, const Params& params, const A& a) {
  const std::int64_t heads = a.n_kv * size_of(params, "group");
  if (heads <= std::int64_t{1} << 31) return heads;
  throw std::invalid_argument("n_heads = " + std::to_string(heads) + "; expected at most 2^31");
}
std::int64_t rows(const Op& op, const Params& params, const A&) {
  return is_prefill(op) ? size_of(params, "rows") : 1;
}
std::int64_t q_head(const Op& op, const Params& params, const A& a) {
  return is_prefill(op) ? inner_stride(params, "q_row_stride", a.rows, a.n_heads, a.head_dim) : a.head_dim;
}
std::int64_t y_head(const Op& op, const Params& params, const A& a) {
  return is_prefill(op) ? inner_stride(params, "y_row_stride", a.rows, a.n_heads, a.head_dim) : a.head_dim;
}
// decode has no rows.
std::int64_t q_row(const Op& op, const Params&, const A& a) {
  return is_prefill(op) ? a.n_heads * a.q_head_stride : 0;
}
std::int64_t y_row(const Op& op, const Params&, const A& a) {
  return is_prefill(op) ? a.n_heads * a.y_head_stride : 0;
}
// The view's last rows.
std::int64_t position(const Op&, const Params& params, const A& a) {
  return std::max<std::int64_t>(0,
                                bounded_or(params, "first_position", 0, kFarthestPosition) + size_of(params, "length") - a.rows);
}
std::int64_t span_count(const Op&, const Params& params, const A& a) {
  return view_layout(params, a).span_count;
}

constexpr Field kFields[] = {{"q", offsetof(A, q), tensor},
                             {"spans", offsetof(A, spans), array},
                             {"y", offsetof(A, y), tensor},
                             {"n_kv", offsetof(A, n_kv), size},
                             {"head_dim", offsetof(A, head_dim), any},
                             {"n_heads", offsetof(A, n_heads), size, erased<heads>},
                             {"window", offsetof(A, window), number, constant<0>, false, {}, nullptr, kFarthestPosition},
                             {"causal", offsetof(A, causal), int32},
                             {"scale", offsetof(A, scale), real32},
                             {"rows", offsetof(A, rows), size, erased<rows>},
                             {"q_head_stride", offsetof(A, q_head_stride), size, erased<q_head>, true},
                             {"y_head_stride", offsetof(A, y_head_stride), size, erased<y_head>, true},
                             {"q_row_stride", offsetof(A, q_row_stride), size, erased<q_row>},
                             {"y_row_stride", offsetof(A, y_row_stride), size, erased<y_row>},
                             {"position", offsetof(A, position), number, erased<position>, false, {}, nullptr, kFarthestPosition},
                             {"span_count", offsetof(A, span_count), length, erased<span_count>, false, {}, ""}};

constexpr Field kSpanFields[] = {{"k", offsetof(AssayKvSpan, k), tensor},
                                 {"v", offsetof(AssayKvSpan, v), tensor},
                                 {"first", offsetof(AssayKvSpan, first), any},
                                 {"count", offsetof(AssayKvSpan, count), size},
                                 {"k_head_stride", offsetof(AssayKvSpan, k_head_stride), size},
                                 {"k_row_stride", offsetof(AssayKvSpan, k_row_stride), size},
                                 {"v_head_stride", offsetof(AssayKvSpan, v_head_stride), size},
                                 {"v_row_stride", offsetof(AssayKvSpan, v_row_stride), size}};

// Spans are looked at where their number can be one.
std::vector<TensorSizes> sizes(const Op&, const A& a) {
  const std::vector<std::int64_t> shape{a.rows, a.n_heads, a.head_dim};
  std::vector<TensorSizes> all{
      {shape, {a.q_row_stride, a.q_head_stride}}, {shape, {a.y_row_stride, a.y_head_stride}}, {{a.n_kv}}, {{a.span_count}}};
  if (!may_be(all)) return all;
  for (const AssayKvSpan& span : std::span(a.spans, static_cast<std::size_t>(a.span_count))) {
    all.push_back({{a.n_kv, span.count, a.head_dim}, {span.k_head_stride, span.k_row_stride}});
    all.push_back({{a.n_kv, span.count, a.head_dim}, {span.v_head_stride, span.v_row_stride}});
  }
  return all;
}

// q or y: with rows in front in prefill.
TensorSpec query(const Op& op, TensorSpec spec, const A& a, std::int64_t row_stride, std::int64_t head_stride) {
  spec.strides = {head_stride, 1};
  if (is_prefill(op)) {
    spec.shape.insert(spec.shape.begin(), a.rows);
    spec.strides.insert(spec.strides.begin(), row_stride);
  }
  return spec;
}

std::vector<TensorSpec> outputs(const Op& op, const A& a) {
  return {query(op, output("y", DType::f32, {a.n_heads, a.head_dim}), a, a.y_row_stride, a.y_head_stride)};
}

Signature signature(const Op& op, const Params& params, const A& a) {
  const ViewLayout view = view_layout(params, a);
  const std::int64_t group = size_of(params, "group");
  const std::vector<std::int64_t> cache{view.slots, a.n_kv, view.kept_end - view.kept_begin, a.head_dim};
  if (is_prefill(op)) {
    check_apart("q", a.head_dim, {{a.rows, a.q_row_stride}, {a.n_heads, a.q_head_stride}});
    check_apart("y", a.head_dim, {{a.rows, a.y_row_stride}, {a.n_heads, a.y_head_stride}});
  }
  const int axis = is_prefill(op) ? 1 : 0;  // of the query heads
  Split by_heads{"n_kv", 1, {{"q", axis, 1, group}, {"k", 1}, {"v", 1}, {"y", axis, 1, group}}, {}};
  by_heads.strides = {{"k_slot_stride", view.k_strides[0]}, {"k_head_stride", view.k_strides[1]},
                      {"k_row_stride", view.k_strides[2]},  {"v_slot_stride", view.v_strides[0]},
                      {"v_head_stride", view.v_strides[1]}, {"v_row_stride", view.v_strides[2]}};
  std::vector<Split> splits;
  if (is_prefill(op)) {
    const std::vector<std::pair<const char*, std::int64_t>> strides{{"q_row_stride", a.q_row_stride},
                                                                    {"q_head_stride", a.q_head_stride},
                                                                    {"y_row_stride", a.y_row_stride},
                                                                    {"y_head_stride", a.y_head_stride}};
    by_heads.strides.insert(by_heads.strides.end(), strides.begin(), strides.end());
    // Fewer queries see fewer keys, where only those that are seen are there.
    if (!view.only_seen) splits.push_back({"rows", 1, {{"q", 0}, {"y", 0}}, strides, {{"position", a.position}}});
  }
  if (!view.turned && view.uneven == 0) splits.push_back(by_heads);
  TensorSpec values = strided(input("v", op.from, cache), view.v_strides);
  values.summed = 2;  // over positions
  return call_of({query(op, input("q", DType::f32, {a.n_heads, a.head_dim}), a, a.q_row_stride, a.q_head_stride),
                  strided(input("k", op.from, cache), view.k_strides), std::move(values)},
                 outputs(op, a), splits);
}

std::vector<NestedArray> arrays(const Op& op, const Params& params, const A& a, std::span<void* const> tensors) {
  const ViewLayout view = view_layout(params, a);
  // As numbers: calls are laid out where there is no memory too.
  const auto place = [&](std::size_t tensor, std::int64_t elements) {
    const auto bytes = static_cast<std::uintptr_t>(elements) * dtype_size(op.from);
    const auto first = reinterpret_cast<std::uintptr_t>(tensors[tensor]);
    return reinterpret_cast<const std::byte*>(first + bytes);  // NOLINT(performance-no-int-to-ptr)
  };
  NestedArray spans{offsetof(A, spans), std::vector<std::byte>(static_cast<std::size_t>(view.span_count) * sizeof(AssayKvSpan))};
  for (std::int64_t i = 0; i < view.span_count; ++i) {
    const std::int64_t slot = (view.first_slot + i * view.slot_step) % view.slots;
    const std::int64_t v_slot = (slot + view.v_slot_shift) % view.slots;
    AssayKvSpan span{};
    span.k = place(1, slot * view.k_strides[0] - view.kept_begin * view.k_strides[2]);
    span.v = place(2, v_slot * view.v_strides[0] - view.kept_begin * view.v_strides[2]);
    span.first = view.first_position + view.begin_of(i) + i * view.span_gap;
    span.count = std::min(view.positions_of(i), view.length - view.begin_of(i));
    span.k_head_stride = view.head_stride_of(i, view.k_strides);
    span.k_row_stride = view.row_stride_of(i, view.k_strides);
    span.v_head_stride = view.head_stride_of(i, view.v_strides);
    span.v_row_stride = view.row_stride_of(i, view.v_strides);
    std::memcpy(spans.bytes.data() + static_cast<std::size_t>(i) * sizeof span, &span, sizeof span);
  }
  return {spans};
}

// Positions past 2^63 - 1 are none.
bool has_sum(std::int64_t a, std::int64_t b) {
  return !__builtin_add_overflow(a, b, &a);
}

bool is_view(std::span<const AssayKvSpan> spans) {
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const AssayKvSpan& span = spans[i];
    if (span.first < 0 || span.first % ASSAY_KV_BLOCK != 0 || span.count < 1 || !has_sum(span.first, span.count)) return false;
    if (i + 1 < spans.size() && (span.count % ASSAY_KV_BLOCK != 0 || span.first + span.count != spans[i + 1].first)) return false;
  }
  return true;
}

AssayStatus refusal(const Op& op, const A& a) {
  if (a.n_heads == 0) return ASSAY_OK;
  const std::span spans(a.spans, static_cast<std::size_t>(a.span_count));
  if (a.n_kv == 0 || a.n_heads % a.n_kv != 0 || a.head_dim < 1 || a.head_dim > kMostAttentionHeadDim || a.position < 0 ||
      !has_sum(a.position, a.rows) || !is_view(spans) || (!is_prefill(op) && a.rows != 1)) {
    return ASSAY_BAD_SHAPE;
  }
  if (!std::isfinite(a.scale) || a.window < 0 || (a.causal == 0 && a.window > 0)) return ASSAY_BAD_PARAMETER;
  // Row 0 sees the earliest position.
  const std::int64_t from = a.window > 0 ? std::max<std::int64_t>(0, a.position - a.window + 1) : 0;
  return a.causal != 0 && a.rows > 0 && !spans.empty() && from < spans[0].first ? ASSAY_OUT_OF_RANGE : ASSAY_OK;
}

// The sum of `count` numbers from `first` on, x, x + 1 ..., of those that are above 0.
double sum_above_zero(std::int64_t first, std::int64_t count) {
  const auto from = static_cast<double>(std::max<std::int64_t>(0, first));
  const auto to = static_cast<double>(std::max<std::int64_t>(0, first + count));
  return (to - from) * (to + from - 1) / 2;
}

// A row sees the keys of the view below its end less those below its begin; below x lie max(0, x - first) - max(0, x - last).
Cost cost(const Op& op, const Params& params, const A& a) {
  if (a.rows == 0) return {};
  const ViewLayout view = view_layout(params, a);
  const std::int64_t first = view.first_position;
  const std::int64_t last = first + view.length;
  const auto below = [&](std::int64_t x) { return std::clamp(x, first, last) - first; };
  const auto below_each = [&](std::int64_t x) { return sum_above_zero(x - first, a.rows) - sum_above_zero(x - last, a.rows); };
  double keys = static_cast<double>(view.length) * static_cast<double>(a.rows);  // of all rows
  std::int64_t most = view.length;
  if (a.causal != 0) {
    const std::int64_t end = a.position + 1;  // of row 0
    const std::int64_t window = std::min(a.window > 0 ? a.window : INT64_MAX, end + a.rows);
    const std::int64_t best = std::clamp(std::min(last, first + window), end, end + a.rows - 1);
    keys = below_each(end) - below_each(end - window);
    most = below(best) - below(best - window);
  }
  if (a.window > 0 && most > 0) most = std::min(view.length, most + a.rows - 1);  // rows see further, one after the other
  const auto width = static_cast<double>(a.head_dim);
  const auto heads = static_cast<double>(a.n_heads);
  const auto rows = static_cast<double>(a.rows);
  return {.bytes = 2.0 * bytes_of(op.from, most * a.n_kv) * width + 8.0 * rows * heads * width,
          .flops = 4.0 * width * heads * keys,
          .exps = heads * std::max(keys, rows * static_cast<double>(ASSAY_KV_BLOCK))};
}

constexpr Family kFamily = {
    .name = "attention",
    .args = "AttentionArgs",
    .header = "kernels/attention/attention.h",
    .args_bytes = sizeof(A),
    .fields = kFields,
    .array_fields = kSpanFields,
    .array_bytes = sizeof(AssayKvSpan),
    .sizes = erased<sizes>,
    .signature = erased<signature>,
    .outputs = erased<outputs>,
    .refusal = erased<refusal>,
    .reference = truth_of<reference::attention>,
    .declarable = always<kActivations | kSums | kLanes | kExponential | kResults>,
    .declared = declared_of<reference::declared_attention>,
    .cost = erased<cost>,
    .shapes = attention_shapes,
    .bias_case = attention_bias_case,
    .long_bias_case = attention_long_bias_case,
    .bench_params = attention_bench_params,
    .arrays = erased<arrays>,
};

constexpr Op row(const OpTable& table, AttentionForm form, DType cache) {
  return {table.op, &kFamily, &table, &reference::kAttentionContract, cache, DType::f32, static_cast<int>(form)};
}

constexpr Op kOps[] = {
#define ASSAY_GROUP(group, args, isas)
#define ASSAY_OP(op, form, cache) row(kernel_tables::op, AttentionForm::form, DType::cache),
#include "kernels/attention/ops.inc"
};

}  // namespace

std::span<const Op> attention_ops() {
  return kOps;
}

}  // namespace assay
