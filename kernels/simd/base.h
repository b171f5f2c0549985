/* What every ISA's header begins with. */
#pragma once

#include <stdint.h>

#define ASSAY_INLINE inline __attribute__((always_inline))

// Over sums that must end up in registers: the loop is unrolled, whatever the -O.
#define ASSAY_UNROLL _Pragma("GCC unroll 16")

namespace assay {
namespace {

inline constexpr int64_t kLanes = 16;

ASSAY_INLINE constexpr int64_t at_most(int64_t a, int64_t b) {
  return a < b ? a : b;
}
ASSAY_INLINE constexpr int64_t at_least(int64_t a, int64_t b) {
  return a > b ? a : b;
}
ASSAY_INLINE constexpr int64_t round_down(int64_t n, int64_t unit) {
  return n / unit * unit;
}

}  // namespace
}  // namespace assay
