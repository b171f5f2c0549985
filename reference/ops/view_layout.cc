#include "reference/ops/view_layout.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include "reference/ops/describe.h"

namespace assay {
namespace {

using A = AttentionArgs;

constexpr std::int64_t kMostSpans = std::int64_t{1} << 24;

// Slot, head and row strides of k or v, whichever lies within which.
std::vector<std::int64_t> strides_of(const Params& params, const std::string& tensor, const ViewLayout& view, const A& a) {
  const std::string head_stride = tensor + "_head_stride";
  const std::string row_stride = tensor + "_row_stride";
  const std::int64_t row_otherwise = inner_stride(params, head_stride.c_str(), a.n_kv, view.span_positions, a.head_dim);
  const std::int64_t row = params.has(row_stride) ? stride_of(params, row_stride.c_str(), a.head_dim) : row_otherwise;
  const std::int64_t head = params.has(head_stride) ? size_of(params, head_stride.c_str()) : view.span_positions * row;
  const std::int64_t slot =
      bounded_or(params, (tensor + "_slot_stride").c_str(), std::max(a.n_kv * head, row > head ? view.span_positions * row : 0));
  check_apart(tensor.c_str(), a.head_dim, {{view.slots, slot}, {a.n_kv, head}, {view.span_positions, row}});
  return {slot, head, row, 1};
}

// Every query sees from its window's first position to its own.
void keep_seen(const A& a, ViewLayout& view) {
  if (view.span_count > 1)
    throw std::invalid_argument("only_seen = 1 in " + std::to_string(view.span_count) + " spans; expected one");
  if (a.causal == 0) return;
  view.kept_end = std::clamp<std::int64_t>(a.position + a.rows - view.first_position, 0, view.length);
  if (a.window > 0) view.kept_begin = std::clamp<std::int64_t>(a.position - a.window + 1 - view.first_position, 0, view.kept_end);
}

// How the spans lie, once their positions are known.
void read_order(const Params& params, const A& a, ViewLayout& view) {
  view.slots = bounded_or(params, "slots", std::max<std::int64_t>(1, view.span_count));
  view.first_slot = bounded_or(params, "first_slot", 0);
  view.slot_step = bounded_or(params, "slot_step", 1);
  view.v_slot_shift = bounded_or(params, "v_slot_shift", 0);
  if (view.slots < 1 || view.first_slot < 0 || view.slot_step < 1 || view.v_slot_shift < 0) {
    throw std::invalid_argument("slots = " + std::to_string(view.slots) + ", first_slot = " + std::to_string(view.first_slot) +
                                ", slot_step = " + std::to_string(view.slot_step) +
                                ", v_slot_shift = " + std::to_string(view.v_slot_shift) + "; expected at least 1, 0, 1 and 0");
  }
  if (std::gcd(view.slot_step, view.slots) != 1) throw std::invalid_argument("slot_step and slots have a common factor");
  view.turned = params.integer_or("turned", 0) != 0;
  if (view.turned && a.n_kv != view.span_positions)
    throw std::invalid_argument("turned = 1 with n_kv = " + std::to_string(a.n_kv) + "; expected span_positions");
  if (view.turned && view.uneven != 0)
    throw std::invalid_argument("turned = 1 and uneven = " + std::to_string(view.uneven) + "; expected one of them");
}

}  // namespace

ViewLayout view_layout(const Params& params, const A& a) {
  ViewLayout view{};
  view.length = size_of(params, "length");
  view.first_position = bounded_or(params, "first_position", 0, kFarthestPosition);
  view.span_positions = bounded_or(params, "span_positions", 0);  // 0: one span
  if (view.span_positions == 0) view.span_positions = view.length;
  if (view.span_positions < 0) throw std::invalid_argument("span_positions is negative");
  view.span_gap = params.integer_or("span_gap", 0);
  view.uneven = bounded_or(params, "uneven", 0, 2);
  if (view.uneven != 0 && view.span_positions < ASSAY_KV_BLOCK)
    throw std::invalid_argument("uneven with span_positions = " + std::to_string(view.span_positions) + "; expected 16 at least");
  if (view.length > 0) view.span_count = (view.length - 1) / view.positions_of_two() * 2 + 1;
  while (view.length > 0 && view.begin_of(view.span_count) < view.length) ++view.span_count;
  if (view.span_count > kMostSpans) throw std::invalid_argument("a view of more than 2^24 spans");
  read_order(params, a, view);
  view.kept_begin = 0;
  view.kept_end = view.span_positions;
  view.only_seen = params.integer_or("only_seen", 0) != 0;
  if (view.only_seen) keep_seen(a, view);
  view.k_strides = strides_of(params, "k", view, a);
  view.v_strides = strides_of(params, "v", view, a);
  return view;
}

}  // namespace assay
