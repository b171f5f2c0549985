#include "reference/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "reference/ops/describe.h"
#include "reference/ops/find.h"
#include "reference/ops/view_layout.h"

namespace assay {
namespace {

using A = AttentionArgs;
using enum FieldKind;

constexpr std::int64_t kMostHeadDim = 512;
constexpr std::int64_t kVastKeys = 20;
constexpr std::int64_t kMostHeadStride = std::int64_t{1} << 31;  // what a size may be

bool is_prefill(const Op& op) {
  return op.form == static_cast<int>(AttentionForm::prefill);
}

std::int64_t heads(const Op&, const Params& params, const A& a) {
  const std::int64_t heads = a.n_kv * size_of(params, "group");
  if (heads <= std::int64_t{1} << 31) return heads;
  throw std::invalid_argument("n_heads = " + std::to_string(heads) + "; expected at most 2^31");
}
std::int64_t rows(const Op& op, const Params& params, const A&) {
  return is_prefill(op) ? size_of(params, "rows") : 1;
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
  return std::max<std::int64_t>(0, bounded_or(params, "first_position", 0) + size_of(params, "length") - a.rows);
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
                             {"window", offsetof(A, window), number, constant<0>},
                             {"causal", offsetof(A, causal), int32},
                             {"scale", offsetof(A, scale), real32},
                             {"q_head_stride", offsetof(A, q_head_stride), size, same_as<&A::head_dim>, true},
                             {"y_head_stride", offsetof(A, y_head_stride), size, same_as<&A::head_dim>, true},
                             {"rows", offsetof(A, rows), size, erased<rows>},
                             {"q_row_stride", offsetof(A, q_row_stride), size, erased<q_row>, true},
                             {"y_row_stride", offsetof(A, y_row_stride), size, erased<y_row>, true},
                             {"position", offsetof(A, position), number, erased<position>},
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
  const std::vector<std::int64_t> cache{view.slots, a.n_kv, view.span_positions, a.head_dim};
  const int axis = is_prefill(op) ? 1 : 0;  // of the query heads
  Split by_heads{"n_kv", 1, {{"q", axis, 1, group}, {"k", 1}, {"v", 1}, {"y", axis, 1, group}}, {}};
  by_heads.strides = {{"k_slot_stride", view.k_strides[0]}, {"v_slot_stride", view.v_strides[0]}};
  std::vector<Split> splits;
  if (is_prefill(op)) {
    by_heads.strides.insert(by_heads.strides.end(), {{"q_row_stride", a.q_row_stride}, {"y_row_stride", a.y_row_stride}});
    splits.push_back({"rows", 1, {{"q", 0}, {"y", 0}}, {}, {{"position", a.position}}});
  }
  splits.push_back(by_heads);
  return call_of({query(op, input("q", DType::f32, {a.n_heads, a.head_dim}), a, a.q_row_stride, a.q_head_stride),
                  strided(input("k", op.from, cache), view.k_strides), strided(input("v", op.from, cache), view.v_strides)},
                 outputs(op, a), splits);
}

std::vector<NestedArray> arrays(const Op& op, const Params& params, const A& a, std::span<void* const> tensors) {
  const ViewLayout view = view_layout(params, a);
  const auto place = [&](std::size_t tensor, std::int64_t elements) {
    return static_cast<const std::byte*>(tensors[tensor]) + static_cast<std::size_t>(elements) * dtype_size(op.from);
  };
  NestedArray spans{offsetof(A, spans), std::vector<std::byte>(static_cast<std::size_t>(view.span_count) * sizeof(AssayKvSpan))};
  for (std::int64_t i = 0; i < view.span_count; ++i) {
    const std::int64_t slot = (view.first_slot + i * view.slot_step) % view.slots;
    AssayKvSpan span{};
    span.k = place(1, slot * view.k_strides[0]);
    span.v = place(2, slot * view.v_strides[0]);
    span.first = view.first_position + i * (view.span_positions + view.span_gap);
    span.count = std::min(view.span_positions, view.length - i * view.span_positions);
    span.k_head_stride = view.k_strides[1];
    span.k_row_stride = view.k_strides[2];
    span.v_head_stride = view.v_strides[1];
    span.v_row_stride = view.v_strides[2];
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
  if (a.n_kv == 0 || a.n_heads % a.n_kv != 0 || a.head_dim < 1 || a.head_dim > kMostHeadDim || a.position < 0 ||
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

// A view that begins late is seen through a window; without causality there is none.
void mend(Params& params) {
  if (params.integer("causal") == 0) return params.set("window", std::int64_t{0});
  if (params.integer("first_position") == 0) return;
  const std::int64_t seen = std::max<std::int64_t>(1, params.integer("length") - params.integer_or("rows", 1) + 1);
  params.set("position", params.integer("first_position") + seen - 1);
  params.set("window", std::clamp<std::int64_t>(params.integer_or("window", seen), 1, seen));
}

// Views from 0, from a block and from a span on; windows of less and more than a block; pages out of order.
ShapeSpace shapes(const Op& op) {
  const auto numbers = [](std::initializer_list<std::int64_t> values) {
    return std::vector<ParamValue>(values.begin(), values.end());
  };
  Size keys =
      used({"length", 100, 300}, {Column::positions}, {{"kKeySpan", 1024}, {"", kCounters.back() / 2}, {"", kCounters.back()}});
  keys.cheap = 2;  // the weight of one key is 1, whatever it holds
  ShapeSpace space{{used({"n_kv", 2, 3}, {Column::kv_heads}),
                    used({"group", 2, 8}, {Column::group}, {{"kHeadsAtOnce", 16}}),
                    limited(used({"head_dim", 128, 160}, {Column::head_dim}, {{"kChunkDims", 512}}), kMostHeadDim),
                    keys,
                    used({"window", 0, 60, 1, nullptr, true}, {Column::window}),
                    used({"position", 0, 400, 1, nullptr, true}, {Column::positions}),
                    {"k_row_stride", 0, 0, 1, "head_dim"},
                    {"v_row_stride", 0, 0, 1, "head_dim"},
                    {"q_head_stride", 0, 0, 1, "head_dim"},
                    {"y_head_stride", 0, 0, 1, "head_dim"}},
                   {{"causal", numbers({1, 1, 1, 1, 1, 0})},
                    {"scale", {0.0883883461356163, 0.5, -0.25}},
                    {"first_position", numbers({0, 0, 0, 0, 48, 1008, 65488, 131008, 1 << 24})},
                    {"span_positions", numbers({0, 16, 48, 256})},
                    {"first_slot", numbers({0, 1})},
                    {"slot_step", numbers({1, 10007})}}};
  if (is_prefill(op)) space.sizes.insert(space.sizes.begin(), used({"rows", 4, 20}, {}, {{"kMaxVectors", 8, 16}}));
  space.mend = mend;
  space.vast = {{{"n_kv", 2},
                 {"group", 3},
                 {"head_dim", 64},
                 {"length", 40},
                 {"causal", 1},
                 {"scale", 0.125},
                 {"span_positions", 16},
                 {"k_row_stride", kVastStride / 32},
                 {"v_row_stride", kVastStride / 32 + 64}},
                // Heads as far apart as they may be.
                {{"n_kv", 3},
                 {"group", 3},
                 {"head_dim", 40},
                 {"length", kVastKeys},
                 {"causal", 1},
                 {"scale", 0.125},
                 {"k_row_stride", kVastStride / kVastKeys},
                 {"v_row_stride", kVastStride / kVastKeys - 64},
                 {"k_slot_stride", kVastStride},
                 {"v_slot_stride", kVastStride},
                 {"k_head_stride", kMostHeadStride},
                 {"v_head_stride", kMostHeadStride - 48}}};
  for (Params& vast : space.vast) {
    // Rows of queries reach as far as heads do where there is one row.
    const std::int64_t apart = is_prefill(op) ? kVastStride / 8 : kMostHeadStride;
    vast.set("q_head_stride", apart);
    vast.set("y_head_stride", apart - 64);
    if (is_prefill(op)) vast.set("rows", 4);
  }
  return space;
}

// A scale of full precision: one of few digits would make the scores' errors alike.
GeneratedCase bias_case(const Op& op) {
  GeneratedCase bias{{{"n_kv", 64}, {"group", 8}, {"head_dim", 80}, {"length", 100}, {"causal", 1}, {"window", 0}}, {}, 71};
  bias.params.set("scale", 0.11180339753627777);
  if (is_prefill(op)) {
    bias.params.set("n_kv", 16);
    bias.params.set("rows", 6);
  }
  return bias;
}

std::vector<Params> bench_params(const Op& op) {
  Params base{{"n_kv", 8}, {"group", 2}, {"head_dim", 128}, {"causal", 1}, {"window", 0}, {"scale", 0.0883883461356163}};
  if (is_prefill(op)) base.set("rows", 512);
  std::vector<Params> all;
  for (const std::int64_t length :
       is_prefill(op) ? std::vector<std::int64_t>{512, 4608} : std::vector<std::int64_t>{4096, 32768}) {
    all.push_back(base);
    all.back().set("length", length);
  }
  return all;
}

constexpr Family kFamily = {
    .name = "attention",
    .args = "AttentionArgs",
    .header = "kernels/attention/attention.h",
    .args_bytes = sizeof(A),
    .fields = kFields,
    .array_fields = kSpanFields,
    .sizes = erased<sizes>,
    .signature = erased<signature>,
    .outputs = erased<outputs>,
    .refusal = erased<refusal>,
    .reference = truth_of<reference::attention>,
    .declarable = always<kActivations | kSums | kLanes | kExponential | kResults>,
    .declared = declared_of<reference::declared_attention>,
    .cost = erased<cost>,
    .shapes = shapes,
    .bias_case = bias_case,
    .bench_params = bench_params,
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
