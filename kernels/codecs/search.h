/* What the searches of encode_q4_k, encode_q5_k and encode_q6_k share. After one of the bytes_*.h headers.

   A search tries sixteen candidates at once: a lane is a candidate, and the loop runs over the elements of a sub-block. So a sum
   over elements has one order, and the bits do not depend on the instruction set. */
#pragma once

#include "kernels/codecs/ranges.h"
#include "kernels/formats/decode.h"

namespace assay {
namespace {

inline constexpr float kHalfMost = 65504.0f;
inline constexpr float kHalfLeast = 0x1p-24f;  // the smallest denormal
// A decoded value is a multiple of kHalfLeast: at or below half of it, zero is a nearest one.
inline constexpr float kRoundsToZero = 0x1p-25f;

// Whether n finite floats fit, super-block by super-block.
template <class Fits>
ASSAY_INLINE bool super_blocks_fit(const float* x, int64_t n, Fits fits) {
  if (largest_magnitude(x, n) >= kInfinityBits) return false;
  for (int64_t i = 0; i < n; i += ASSAY_QK_K) {
    if (!fits(x + i)) return false;
  }
  return true;
}

ASSAY_INLINE F32x16 clamp(F32x16 v, float low, float high) {
  return min(max(v, broadcast(low)), broadcast(high));
}

// To the nearest half that is positive and finite, as a float.
ASSAY_INLINE F32x16 positive_half(F32x16 v) {
  return widen_f16(narrow_f16(clamp(v, kHalfLeast, kHalfMost)));
}
ASSAY_INLINE float positive_half(float v) {
  const float high = v > kHalfLeast ? v : kHalfLeast;
  return half_value(to_half(high < kHalfMost ? high : kHalfMost));
}

ASSAY_INLINE int least_lane(F32x16 v) {
  const float least = -tree_max(neg(v));
  return first_bit(equal_bits(v, broadcast(least)));
}

ASSAY_INLINE F32x16 lane_numbers() {
  static constexpr float kNumbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return load(kNumbers);
}

// Candidates, best first: `start` takes its place, the last falls out.
template <class Start>
ASSAY_INLINE void keep_start(Start* starts, int count, Start start) {
  for (int k = 0; k < count; ++k) {
    if (start.error < starts[k].error) {
      const Start worse = starts[k];
      starts[k] = start;
      start = worse;
    }
  }
}

}  // namespace
}  // namespace assay
