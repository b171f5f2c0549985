// K and V are tensors [slots, n_kv, span_positions, head_dim]: a slot is the memory of one span, for all kv heads. Span i of the
// view begins span_gap behind the one before and lies in slot (first_slot + i slot_step) mod slots, of V v_slot_shift further
// (golden/SCHEMA.md, "Views"). One slot: contiguous; more: chunks, pages in any order, or a ring.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "golden/params.h"
#include "kernels/attention/attention.h"

namespace assay {

// Positions, of which no memory is counted: sums of some do not overflow.
inline constexpr std::int64_t kFarthestPosition = std::int64_t{1} << 40;

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
  std::int64_t v_slot_shift;
  // Of spans 1, 2, 4, 7 .. (an odd number of binary ones): they have positions where the others have heads, and heads where they have positions;
  bool turned;
  // 1: they hold ASSAY_KV_BLOCK positions, and heads that lie right behind each other do so there too; 2: the others do; 0: none.
  std::int64_t uneven;
  bool only_seen;           // the tensors hold only rows that some query sees: kept_begin .. kept_end - 1 of the one span
  std::int64_t kept_begin;  // else 0
  std::int64_t kept_end;    // else span_positions
  std::vector<std::int64_t> k_strides;  // slot, head, row, 1
  std::vector<std::int64_t> v_strides;

  static bool is_odd(std::int64_t span) { return std::popcount(static_cast<std::uint64_t>(span)) % 2 == 1; }
  bool is_short(std::int64_t span) const { return uneven != 0 && is_odd(span) == (uneven == 1); }
  std::int64_t positions_of(std::int64_t span) const { return is_short(span) ? std::int64_t{ASSAY_KV_BLOCK} : span_positions; }
  std::int64_t positions_of_two() const { return positions_of(0) + positions_of(1); }  // neighbours, the first of which is even
  // Positions of the spans before it.
  std::int64_t begin_of(std::int64_t span) const {
    return span / 2 * positions_of_two() + (span % 2 == 0 ? 0 : positions_of(span - 1));
  }
  // Of k_strides or v_strides.
  std::int64_t head_stride_of(std::int64_t span, const std::vector<std::int64_t>& strides) const {
    if (turned && is_odd(span)) return strides[2];
    return is_short(span) && strides[1] == span_positions * strides[2] ? ASSAY_KV_BLOCK * strides[2] : strides[1];
  }
  std::int64_t row_stride_of(std::int64_t span, const std::vector<std::int64_t>& strides) const {
    return strides[turned && is_odd(span) ? 1 : 2];
  }
};

// Of the scalars in the struct. Throws std::invalid_argument where a parameter makes no sense.
ViewLayout view_layout(const Params& params, const AttentionArgs& args);

}  // namespace assay
