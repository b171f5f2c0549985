// The adapters of attention: decode is prefill without rows, and the caches differ in their type alone.
//
// K and V are tensors [slots, n_kv, span_positions, head_dim]: a slot is the memory of one span, for all kv heads. Span i of
// the view begins at first_position + i (span_positions + span_gap) and lies in slot (first_slot + i slot_step) mod slots
// (golden/SCHEMA.md, "Views"). One slot: contiguous; more: chunks, pages in any order, or a ring.
#pragma once

#include <algorithm>
#include <cstddef>

#include "harness/verdict/ops/bind.h"
#include "kernels/kv_view.h"
#include "reference/attention.h"

namespace assay {

// Where the view lies in its two tensors.
struct ViewLayout {
  std::int64_t length;  // positions in the view
  std::int64_t first_position;
  std::int64_t span_positions;
  std::int64_t span_gap;  // positions that the view lacks after each span: kernels must refuse it
  std::int64_t span_count;
  std::int64_t slots;
  std::int64_t first_slot;
  std::int64_t slot_step;
  std::vector<std::int64_t> k_strides;  // slot, head, row, 1
  std::vector<std::int64_t> v_strides;
};

ViewLayout view_layout(const Params& params, std::int64_t n_kv, std::int64_t head_dim);

// The view's spans. They are the calling thread's until it asks again: a fault, which jumps out of a call, leaks nothing.
std::span<const AssayKvSpan> view_spans(const ViewLayout& view, DType dtype, const void* k, const void* v);

// What the specification makes of the parts that every attention op has.
struct AttentionCall {
  std::int64_t n_heads, n_kv, head_dim, position, window, causal;
  double scale;
};
AssayStatus attention_status(const AttentionCall& call, const ViewLayout& view);

// Keys that the query at `position` reads.
std::int64_t visible_keys(const AttentionCall& call, const ViewLayout& view, std::int64_t position);

template <class Op, const reference::Contract& kContract, auto kReference, DType kCache>
class AttentionAdapter final : public OpAdapter<Op, kContract, kReference> {
 public:
  using Args = typename Op::Args;
  static constexpr bool kPrefill = requires(Args a) { a.rows; };

  Signature signature(const Params& params) const override {
    const Args a = layout(params);
    const ViewLayout view = view_layout(params, a.n_kv, a.head_dim);
    const std::int64_t group = size_of(params, "group");
    const std::vector<std::int64_t> cache{view.slots, a.n_kv, view.span_positions, a.head_dim};
    const int heads = kPrefill ? 1 : 0;  // the axis of the query heads
    Signature signature;
    signature.tensors = {query(input("q", DType::f32, {a.n_heads, a.head_dim}), a, a.q_head_stride, true),
                         strided(input("k", kCache, cache), view.k_strides), strided(input("v", kCache, cache), view.v_strides),
                         query(output("y", DType::f32, {a.n_heads, a.head_dim}), a, a.y_head_stride, false)};
    Split by_heads{"n_kv", 1, {{"q", heads, 1, group}, {"k", 1}, {"v", 1}, {"y", heads, 1, group}}, {}};
    by_heads.strides = {{"k_slot_stride", view.k_strides[0]}, {"v_slot_stride", view.v_strides[0]}};
    if constexpr (kPrefill) {
      by_heads.strides.insert(by_heads.strides.end(), {{"q_row_stride", a.q_row_stride}, {"y_row_stride", a.y_row_stride}});
      signature.splits.push_back({"rows", 1, {{"q", 0}, {"y", 0}}, {}, {{"position", a.position}}});
    }
    signature.splits.push_back(by_heads);
    return signature;
  }

  Args bind(const Params& params, std::span<void* const> tensors) const override {
    Args args = layout(params);
    const auto spans = view_spans(view_layout(params, args.n_kv, args.head_dim), kCache, tensors[1], tensors[2]);
    args.q = pointer<const float>(tensors, 0);
    args.spans = spans.data();
    args.span_count = static_cast<std::int64_t>(spans.size());
    args.y = pointer<float>(tensors, 3);
    return args;
  }

  std::vector<NestedArray> nested(const Args& args) const override {
    return {{offsetof(Args, spans), std::as_bytes(std::span(args.spans, static_cast<std::size_t>(args.span_count)))}};
  }

  AssayStatus required_status(const Params& params, const std::vector<Array>&) const override {
    const Args a = layout(params);
    return attention_status(call_of(a), view_layout(params, a.n_kv, a.head_dim));
  }

  // Views from 0, from a block and from a span on; windows of less and more than a block; pages out of order.
  ShapeSpace shape_space() const override {
    const auto numbers = [](std::initializer_list<std::int64_t> values) {
      return std::vector<ParamValue>(values.begin(), values.end());
    };
    ShapeSpace space{{{"n_kv", 2, 3},
                      {"head_dim", 128, 160},
                      {"length", 100, 300},
                      {"position", 0, 400, 1, nullptr, true},
                      {"k_row_stride", 0, 0, 1, "head_dim"},
                      {"v_row_stride", 0, 0, 1, "head_dim"},
                      {"q_head_stride", 0, 0, 1, "head_dim"},
                      {"y_head_stride", 0, 0, 1, "head_dim"}},
                     {{"group", numbers({2, 1, 4, 8})},
                      {"causal", numbers({1, 1, 1, 1, 1, 0})},
                      {"window", numbers({0, 0, 1, 17, 40})},
                      {"scale", {0.0883883461356163, 0.5, -0.25}},
                      {"first_position", numbers({0, 0, 0, 0, 48, 1008})},
                      {"span_positions", numbers({0, 16, 48, 256})},
                      {"first_slot", numbers({0, 1})},
                      {"slot_step", numbers({1, 10007})}}};
    if constexpr (kPrefill) space.sizes.insert(space.sizes.begin(), {"rows", 4, 20});
    return space;
  }

  // A scale of full precision: one of few digits would make the scores' errors alike.
  GeneratedCase bias_case() const override {
    GeneratedCase bias{{{"n_kv", 64}, {"group", 8}, {"head_dim", 80}, {"length", 100}, {"causal", 1}, {"window", 0}}, {}, 71};
    bias.params.set("scale", 0.11180339753627777);
    if constexpr (kPrefill) {
      bias.params.set("n_kv", 16);
      bias.params.set("rows", 6);
    }
    return bias;
  }

  Cost cost(const Params& params) const override {
    const Args a = layout(params);
    const ViewLayout view = view_layout(params, a.n_kv, a.head_dim);
    double keys = 0;  // of all rows
    std::int64_t most = 0;
    std::int64_t rows = 1;
    if constexpr (kPrefill) rows = a.rows;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t seen = visible_keys(call_of(a), view, a.position + row);
      keys += static_cast<double>(seen);
      most = std::max(most, seen);
    }
    if (a.window > 0 && most > 0) most = std::min(view.length, most + rows - 1);  // rows see further, one after the other
    const auto width = static_cast<double>(a.head_dim);
    const double cache = 2.0 * static_cast<double>(dtype_size(kCache) * most * a.n_kv) * width;
    return {cache + 8.0 * static_cast<double>(rows * a.n_heads) * width, 4.0 * width * static_cast<double>(a.n_heads) * keys};
  }

  std::vector<Params> bench_params() const override {
    Params base{{"n_kv", 8}, {"group", 2}, {"head_dim", 128}, {"causal", 1}, {"window", 0}, {"scale", 0.0883883461356163}};
    std::vector<Params> all;
    for (const std::int64_t length : kPrefill ? std::vector<std::int64_t>{512, 4608} : std::vector<std::int64_t>{4096, 32768}) {
      base.set("length", length);
      if constexpr (kPrefill) base.set("rows", 512);
      all.push_back(base);
    }
    return all;
  }

 private:
  static AttentionCall call_of(const Args& a) {
    return {a.n_heads, a.n_kv, a.head_dim, a.position, a.window, a.causal, static_cast<double>(a.scale)};
  }

  // Everything but the pointers and the view.
  static Args layout(const Params& params) {
    Args a{};
    a.n_kv = size_of(params, "n_kv");
    a.head_dim = params.integer("head_dim");
    a.n_heads = params.has("n_heads") ? size_of(params, "n_heads") : a.n_kv * size_of(params, "group");
    if (a.n_heads > std::int64_t{1} << 31)
      throw std::invalid_argument("n_heads = " + std::to_string(a.n_heads) + "; expected at most 2^31");
    a.window = bounded_or(params, "window", 0);
    a.causal = static_cast<std::int32_t>(params.integer("causal"));
    a.scale = static_cast<float>(params.real("scale"));
    a.q_head_stride = stride_of(params, "q_head_stride", a.head_dim);
    a.y_head_stride = stride_of(params, "y_head_stride", a.head_dim);
    std::int64_t rows = 1;
    if constexpr (kPrefill) {
      a.rows = rows = size_of(params, "rows");
      a.q_row_stride = stride_of(params, "q_row_stride", a.n_heads * a.q_head_stride);
      a.y_row_stride = stride_of(params, "y_row_stride", a.n_heads * a.y_head_stride);
    }
    // The view's last rows, unless the params say otherwise.
    const std::int64_t end = bounded_or(params, "first_position", 0) + size_of(params, "length");
    a.position = bounded_or(params, "position", std::max<std::int64_t>(0, end - rows));
    return a;
  }

  // q or y: with rows in front in prefill.
  static TensorSpec query(TensorSpec spec, const Args& a, std::int64_t head_stride, bool is_q) {
    spec.strides = {head_stride, 1};
    if constexpr (kPrefill) {
      spec.shape.insert(spec.shape.begin(), a.rows);
      spec.strides.insert(spec.strides.begin(), is_q ? a.q_row_stride : a.y_row_stride);
    }
    return spec;
  }
};

}  // namespace assay
