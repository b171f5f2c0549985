// K and V are tensors [slots, n_kv, span_positions, head_dim]: a slot is the memory of one span, for all kv heads. Span i of the
// view begins at first_position + i (span_positions + span_gap) and lies in slot (first_slot + i slot_step) mod slots
// (golden/SCHEMA.md, "Views"). One slot: contiguous; more: chunks, pages in any order, or a ring.
#pragma once

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
  // Spans 1, 2, 4, 7 .. (an odd number of binary ones) have positions where the others have heads, and heads where they have positions.
  bool turned;
  bool only_seen;           // the tensors hold only rows that some query sees: kept_begin .. kept_end - 1 of the one span
  std::int64_t kept_begin;  // else 0
  std::int64_t kept_end;    // else span_positions
  std::vector<std::int64_t> k_strides;  // slot, head, row, 1
  std::vector<std::int64_t> v_strides;
};

// Of the scalars in the struct. Throws std::invalid_argument where a parameter makes no sense.
ViewLayout view_layout(const Params& params, const AttentionArgs& args);

}  // namespace assay
