#include "harness/verdict/ops/attention.h"

#include <cmath>
#include <numeric>

namespace assay {
namespace {

constexpr std::int64_t kMostHeadDim = 512;
constexpr std::int64_t kMostSpans = std::int64_t{1} << 24;

// Slot, head and row strides of k or v; heads of slots, or slots of heads: either way none overlap.
std::vector<std::int64_t> strides_of(const Params& params, const std::string& tensor, const ViewLayout& view, std::int64_t n_kv,
                                     std::int64_t head_dim) {
  const std::int64_t row = stride_of(params, (tensor + "_row_stride").c_str(), head_dim);
  const std::int64_t head = stride_of(params, (tensor + "_head_stride").c_str(), view.span_positions * row);
  const std::int64_t slot = bounded_or(params, tensor + "_slot_stride", n_kv * head);
  if (slot < n_kv * head && (slot < view.span_positions * row || head < view.slots * slot)) {
    throw std::invalid_argument(tensor + "_slot_stride = " + std::to_string(slot) + ": slots and heads overlap");
  }
  return {slot, head, row, 1};
}

}  // namespace

ViewLayout view_layout(const Params& params, std::int64_t n_kv, std::int64_t head_dim) {
  ViewLayout view{};
  view.length = size_of(params, "length");
  view.first_position = bounded_or(params, "first_position", 0);
  view.span_positions = bounded_or(params, "span_positions", 0);  // 0: one span
  if (view.span_positions == 0) view.span_positions = view.length;
  if (view.span_positions < 0) throw std::invalid_argument("span_positions is negative");
  view.span_gap = params.integer_or("span_gap", 0);
  view.span_count = view.length == 0 ? 0 : (view.length - 1) / view.span_positions + 1;
  if (view.span_count > kMostSpans) throw std::invalid_argument("a view of more than 2^24 spans");
  view.slots = bounded_or(params, "slots", std::max<std::int64_t>(1, view.span_count));
  view.first_slot = bounded_or(params, "first_slot", 0);
  view.slot_step = bounded_or(params, "slot_step", 1);
  if (view.slots < 1 || view.first_slot < 0 || view.slot_step < 1) {
    throw std::invalid_argument("slots = " + std::to_string(view.slots) + ", first_slot = " + std::to_string(view.first_slot) +
                                ", slot_step = " + std::to_string(view.slot_step) + "; expected at least 1, 0 and 1");
  }
  if (std::gcd(view.slot_step, view.slots) != 1) throw std::invalid_argument("slot_step and slots have a common factor");
  view.k_strides = strides_of(params, "k", view, n_kv, head_dim);
  view.v_strides = strides_of(params, "v", view, n_kv, head_dim);
  return view;
}

std::span<const AssayKvSpan> view_spans(const ViewLayout& view, DType dtype, const void* k, const void* v) {
  static thread_local std::vector<AssayKvSpan> spans;
  spans.clear();
  const auto place = [dtype](const void* base, std::int64_t elements) {
    return static_cast<const std::byte*>(base) + static_cast<std::size_t>(elements) * dtype_size(dtype);
  };
  for (std::int64_t i = 0; i < view.span_count; ++i) {
    const std::int64_t slot = (view.first_slot + i * view.slot_step) % view.slots;
    AssayKvSpan span{};
    span.k = place(k, slot * view.k_strides[0]);
    span.v = place(v, slot * view.v_strides[0]);
    span.first = view.first_position + i * (view.span_positions + view.span_gap);
    span.count = std::min(view.span_positions, view.length - i * view.span_positions);
    span.k_head_stride = view.k_strides[1];
    span.k_row_stride = view.k_strides[2];
    span.v_head_stride = view.v_strides[1];
    span.v_row_stride = view.v_strides[2];
    spans.push_back(span);
  }
  return spans;
}

AssayStatus attention_status(const AttentionCall& call, const ViewLayout& view) {
  if (call.n_heads == 0) return ASSAY_OK;
  const bool whole_blocks =
      view.first_position % ASSAY_KV_BLOCK == 0 && (view.span_count < 2 || view.span_positions % ASSAY_KV_BLOCK == 0);
  const bool gaps = view.span_count > 1 && view.span_gap != 0;
  if (call.n_kv == 0 || gaps || call.n_heads % call.n_kv != 0 || call.head_dim < 1 || call.head_dim > kMostHeadDim ||
      call.position < 0 || view.first_position < 0 || !whole_blocks) {
    return ASSAY_BAD_SHAPE;
  }
  if (!std::isfinite(call.scale) || call.window < 0 || (call.causal == 0 && call.window > 0)) return ASSAY_BAD_PARAMETER;
  const std::int64_t from = call.window > 0 ? std::max<std::int64_t>(0, call.position - call.window + 1) : 0;
  if (call.causal != 0 && view.span_count > 0 && from < view.first_position) return ASSAY_OUT_OF_RANGE;
  return ASSAY_OK;
}

std::int64_t visible_keys(const AttentionCall& call, const ViewLayout& view, std::int64_t position) {
  if (call.causal == 0) return view.length;
  const std::int64_t end = std::min(position + 1, view.first_position + view.length);
  const std::int64_t begin = call.window > 0 ? std::max(view.first_position, position - call.window + 1) : view.first_position;
  return std::max<std::int64_t>(0, end - begin);
}

}  // namespace assay
