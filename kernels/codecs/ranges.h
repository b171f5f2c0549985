/* What quantisers ask of a run of floats: its largest magnitude, its ends, and whether it is finite. After one of the bytes_*.h
   headers. n is a multiple of 16. */
#pragma once

#include <stdint.h>

#include "kernels/formats/half.h"

namespace assay {
namespace {

inline constexpr uint32_t kInfinityBits = 0x7f800000u;
inline constexpr uint32_t kHalfInfinity = 0x7c00u;

// The bits of the largest |x|: kInfinityBits or more if any is not finite.
ASSAY_INLINE uint32_t largest_magnitude(const float* x, int64_t n) {
  Magnitudes most = no_magnitudes();
  for (int64_t i = 0; i < n; i += kLanes) most = larger(most, load(x + i));
  return largest(most);
}

ASSAY_INLINE bool fits_half(float x) {
  return (to_half(x) & 0x7fffu) < kHalfInfinity;
}

// For quotients: a reciprocal that is not finite counts as 0.
ASSAY_INLINE float finite_or_zero(float x) {
  return (float_bits(x) & 0x7fffffffu) < kInfinityBits ? x : 0.0f;
}

ASSAY_INLINE int first_bit(uint32_t bits) {
  return __builtin_ctz(bits);
}

// The first of 16 k elements whose magnitude is `amax`, with its sign. There must be one.
ASSAY_INLINE float first_of_magnitude(const float* x, float amax) {
  const F32x16 wanted = broadcast(amax);
  for (;; x += kLanes) {
    const uint32_t hits = equal_bits(magnitude(load(x)), wanted);
    if (hits != 0) return x[first_bit(hits)];
  }
}

// The ends of 32 finite floats. Of equal ones the first, which settles the sign of a zero.
struct Ends {
  float low;
  float high;
};

ASSAY_INLINE float first_equal(const float* x, float value) {
  const F32x16 wanted = broadcast(value);
  for (;; x += kLanes) {
    const uint32_t hits = equal_bits(load(x), wanted);
    if (hits != 0) return x[first_bit(hits)];
  }
}

ASSAY_INLINE Ends ends_of_32(const float* x) {
  const F32x16 a = load(x);
  const F32x16 b = load(x + kLanes);
  const float low = -tree_max(neg(min(a, b)));
  const float high = tree_max(max(a, b));
  return {first_equal(x, low), first_equal(x, high)};
}

}  // namespace
}  // namespace assay
