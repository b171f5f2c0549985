// One number's conversion, bits to bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "reference/decode.h"

namespace assay::reference {

// f32 to f16 or bf16, nearest even. A finite x is m q with q the target's spacing in x's binade: m is rounded in
// fp64, where everything before it is exact. The encoding then is m + (e - e_min) 2^f, for normal m the implicit bit
// of m is what raises the exponent field from e - e_min to e - e_min + 1; a carry of the rounding, and an overflow to
// infinity, raise it further.
template <class Target>
std::uint16_t narrow(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = (bits >> 31) << Target::sign_shift;
  std::uint32_t magnitude = Target::infinity;
  if (std::isnan(x)) {
    const std::uint32_t payload = (bits & Single::fraction_mask) >> (Single::fraction_bits - Target::fraction_bits);
    magnitude = Target::infinity | Target::quiet_bit | payload;
  } else if (x == 0) {
    magnitude = 0;
  } else if (!std::isinf(x)) {
    const double value = std::abs(Single::decode(bits));
    const int exponent = std::max(std::ilogb(value), Target::min_exponent);
    const auto m = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(value, Target::fraction_bits - exponent)));
    const auto steps = static_cast<std::uint32_t>(exponent - Target::min_exponent);
    // Exponents past the largest, as f32 has them for f16, end in infinity too.
    magnitude = std::min(m + (steps << Target::fraction_bits), Target::infinity);
  }
  return static_cast<std::uint16_t>(sign | magnitude);
}

// f16 to the bits of an f32: exact; a NaN is made quiet.
inline std::uint32_t widen_f16(std::uint16_t half) {
  const std::uint32_t payload = half & Half::fraction_mask;
  const bool is_nan = payload != 0 && (half & Half::infinity) == Half::infinity;
  if (!is_nan) return std::bit_cast<std::uint32_t>(static_cast<float>(Half::decode(half)));
  const std::uint32_t sign = static_cast<std::uint32_t>(half >> Half::sign_shift) << Single::sign_shift;
  return sign | Single::infinity | Single::quiet_bit | payload << (Single::fraction_bits - Half::fraction_bits);
}

// bf16 to the bits of an f32: its upper half, NaN as it is.
inline std::uint32_t widen_bf16(std::uint16_t bfloat) {
  return static_cast<std::uint32_t>(bfloat) << 16;
}

}  // namespace assay::reference
