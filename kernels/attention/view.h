/* What both attentions share: the checks of the arguments, the unmasked keys of a query and the way through the spans of a
   view. After an ISA's header. */
#pragma once

#include <stdint.h>

#include "kernels/attention/attention.h"

namespace assay {
namespace {

constexpr int64_t kKeyBlock = ASSAY_KV_BLOCK;
constexpr int64_t kKeySpan = 1024;
constexpr int64_t kMaxHeadDim = 512;
constexpr uint32_t kAllKeys = 0xffff;
constexpr float kMasked = -__builtin_inff();
static_assert(kKeyBlock == kLanes);

// Positions begin .. end - 1.
struct KeyRange {
  int64_t begin;
  int64_t end;
};

inline bool is_view(const AssayKvSpan* spans, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const AssayKvSpan& span = spans[i];
    const bool last = i + 1 == count;
    if (span.first < 0 || span.first % kKeyBlock != 0) return false;
    if (span.count <= 0 || span.count > INT64_MAX - span.first) return false;
    if (!last && (span.count % kKeyBlock != 0 || span.first + span.count != spans[i + 1].first)) return false;
  }
  return true;
}

inline KeyRange view_range(const AttentionArgs& args) {
  if (args.span_count == 0) return {0, 0};
  const AssayKvSpan& last = args.spans[args.span_count - 1];
  return {args.spans[0].first, last.first + last.count};
}

// The first position that the query may see, wherever the view begins.
ASSAY_INLINE int64_t window_begin(const AttentionArgs& args, int64_t position) {
  return args.window > 0 ? at_least(0, position - args.window + 1) : 0;
}

inline KeyRange unmasked_keys(const AttentionArgs& args, int64_t position) {
  const KeyRange view = view_range(args);
  if (args.causal == 0) return view;
  return {at_least(view.begin, window_begin(args, position)), position < view.end ? position + 1 : view.end};
}

inline AssayStatus check_attention(const AttentionArgs& args) {
  if (args.n_heads > 0 && (args.n_kv == 0 || args.n_heads % args.n_kv != 0)) return ASSAY_BAD_SHAPE;
  if (args.head_dim < 1 || args.head_dim > kMaxHeadDim) return ASSAY_BAD_SHAPE;
  const int64_t farthest = INT64_MAX - args.rows;
  if (args.position < 0 || args.position > farthest) return ASSAY_BAD_SHAPE;
  if (!is_view(args.spans, args.span_count)) return ASSAY_BAD_SHAPE;
  const bool scale_is_finite = args.scale - args.scale == 0.0f;
  if (!scale_is_finite || args.window < 0 || (args.causal == 0 && args.window != 0)) return ASSAY_BAD_PARAMETER;
  // Row 0 sees the earliest position.
  const bool reads_before_view =
      args.causal != 0 && args.span_count > 0 && args.rows > 0 && window_begin(args, args.position) < args.spans[0].first;
  return reads_before_view ? ASSAY_OUT_OF_RANGE : ASSAY_OK;
}

// A block's keys and values of one kv head; rows k_stride and v_stride apart.
template <class Element>
struct KeyRows {
  const Element* k;
  const Element* v;
  int64_t k_stride;
  int64_t v_stride;
};

// Walks the blocks of a view upwards.
template <class Element>
class ViewWalk {
 public:
  ViewWalk(const AttentionArgs& args, int64_t kv_head, int64_t begin) : spans_(args.spans), kv_head_(kv_head) {
    int64_t past = args.span_count;  // The span that holds `begin` is the last one that does not begin after it.
    while (past - at_ > 1) {
      const int64_t middle = at_ + (past - at_) / 2;
      if (spans_[middle].first <= begin) {
        at_ = middle;
      } else {
        past = middle;
      }
    }
  }

  // The block from `position` on, which lies in the view and not before any asked for earlier.
  ASSAY_INLINE KeyRows<Element> block(int64_t position) {
    while (position - spans_[at_].first >= spans_[at_].count) ++at_;
    const AssayKvSpan& span = spans_[at_];
    const int64_t row = position - span.first;
    return {static_cast<const Element*>(span.k) + kv_head_ * span.k_head_stride + row * span.k_row_stride,
            static_cast<const Element*>(span.v) + kv_head_ * span.v_head_stride + row * span.v_row_stride, span.k_row_stride,
            span.v_row_stride};
  }

 private:
  const AssayKvSpan* spans_;
  int64_t kv_head_;
  int64_t at_ = 0;
};

}  // namespace
}  // namespace assay
