/* A float's bits, and by them the conversions of one f16 or bf16: the definition that scalar.h's lanes follow. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "kernels/simd/base.h"

namespace assay {
namespace {

ASSAY_INLINE uint32_t float_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

ASSAY_INLINE float bits_float(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// A half is sign, 5 bits of exponent biased by 15, 10 bits of fraction.
ASSAY_INLINE float f16_to_f32(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) {
    const uint32_t quiet = magnitude > 0x7c00u ? 0x400000u : 0u;
    return bits_float(sign | 0x7f800000u | (magnitude << 13) | quiet);
  }
  if (magnitude < 0x0400u) {  // fraction * 2^-24, exact
    return bits_float(sign | float_bits(static_cast<float>(magnitude) * 0x1p-24f));
  }
  return bits_float(sign | ((magnitude << 13) + ((127u - 15u) << 23)));
}

// Drops `shift` low bits of `value`, to nearest even.
ASSAY_INLINE uint32_t round_shift(uint32_t value, uint32_t shift) {
  const uint32_t half = 1u << (shift - 1);
  const uint32_t odd = (value >> shift) & 1u;
  return (value + (half - 1u) + odd) >> shift;
}

ASSAY_INLINE uint16_t f32_to_f16(float x) {
  const uint32_t bits = float_bits(x);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t half = 0;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  } else if (magnitude >= 0x477ff000u) {  // 65520, half way from the largest half to 2^16
    half = 0x7c00u;
  } else if (magnitude >= 0x38800000u) {  // 2^-14: the carry of a rounding runs into the exponent, as it should
    half = round_shift(magnitude - ((127u - 15u) << 23), 13);
  } else if (magnitude > 0x33000000u) {  // above 2^-25, the tie that goes to zero: a multiple of 2^-24
    half = round_shift((magnitude & 0x7fffffu) | 0x800000u, 126u - (magnitude >> 23));
  }
  return static_cast<uint16_t>(sign | half);
}

ASSAY_INLINE uint16_t f32_to_bf16(float x) {
  const uint32_t bits = float_bits(x);
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return static_cast<uint16_t>(nan ? (bits >> 16) | 0x40u : round_shift(bits, 16));
}

}  // namespace
}  // namespace assay
