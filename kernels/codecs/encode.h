/* Floats to blocks by closed formulas. After one of the bytes_*.h headers. An encoder says whether n floats fit its format, and encodes
   a block of them. The products and sums below are rounded one by one (no fma): the bytes are those of codecs.h. */
#pragma once

#include "kernels/codecs/ranges.h"
#include "kernels/formats/decode.h"

namespace assay {
namespace {
namespace encoder {

// Formats whose scale grows with the largest magnitude: the largest of all decides.
template <class Scale>
ASSAY_INLINE bool scale_fits(const float* src, int64_t n, Scale scale_of) {
  const uint32_t amax = largest_magnitude(src, n);
  return amax < kInfinityBits && fits_half(scale_of(bits_float(amax)));
}

// Elements 0..15 in the low nibbles, 16..31 in the high ones; the codes are below 16 or their upper bits are dropped.
ASSAY_INLINE void store_nibbles(uint8_t* qs, U8x16 first, U8x16 second) {
  store_bytes(qs, bits_or(bits_and(first, 15), shift_left(second, 4)));
}

ASSAY_INLINE void store_fifth_bits(uint8_t* qh, U8x16 first, U8x16 second) {
  const uint32_t bits = bit_of_each(first, 4) | bit_of_each(second, 4) << 16;
  for (int i = 0; i < 4; ++i) qh[i] = static_cast<uint8_t>(bits >> (8 * i));
}

// q4_0 and q5_0: d = max / -levels, code = min(2 levels - 1, trunc(x / d + levels + 0.5)).
struct Centred {
  float d;
  U8x16 first;
  U8x16 second;
};

ASSAY_INLINE U8x16 centred_codes(const float* x, float id, float levels) {
  const F32x16 shifted = add(mul(load(x), broadcast(id)), broadcast(levels + 0.5f));
  return trunc_s8(min(shifted, broadcast(2.0f * levels - 1.0f)));
}

ASSAY_INLINE Centred encode_centred(const float* x, float levels) {
  const float amax = bits_float(largest_magnitude(x, ASSAY_QK));
  const float largest = amax > 0.0f ? first_of_magnitude(x, amax) : 0.0f;  // all zeros: d = -0, whatever their signs
  const float d = largest / -levels;
  const float id = finite_or_zero(1.0f / d);
  return {d, centred_codes(x, id, levels), centred_codes(x + 16, id, levels)};
}

struct q4_0 : decoder::q4_0 {
  ASSAY_INLINE static bool fits(const float* src, int64_t n) {
    return scale_fits(src, n, [](float amax) { return amax / 8.0f; });
  }
  ASSAY_INLINE static void encode(const float* x, BlockQ4_0& block) {
    const Centred c = encode_centred(x, 8.0f);
    block.d = to_half(c.d);
    store_nibbles(block.qs, c.first, c.second);
  }
};

struct q5_0 : decoder::q5_0 {
  ASSAY_INLINE static bool fits(const float* src, int64_t n) {
    return scale_fits(src, n, [](float amax) { return amax / 16.0f; });
  }
  ASSAY_INLINE static void encode(const float* x, BlockQ5_0& block) {
    const Centred c = encode_centred(x, 16.0f);
    block.d = to_half(c.d);
    store_fifth_bits(block.qh, c.first, c.second);
    store_nibbles(block.qs, c.first, c.second);
  }
};

// q4_1 and q5_1: d = (high - low) / top, code = min(top, trunc((x - low) / d + 0.5)).
struct Offset {
  float d;
  float low;
  U8x16 first;
  U8x16 second;
};

ASSAY_INLINE U8x16 offset_codes(const float* x, float low, float id, float top) {
  const F32x16 scaled = mul(sub(load(x), broadcast(low)), broadcast(id));
  return trunc_s8(min(add(scaled, broadcast(0.5f)), broadcast(top)));
}

ASSAY_INLINE Offset encode_offset(const float* x, float top) {
  const Ends ends = ends_of_32(x);
  const float d = (ends.high - ends.low) / top;
  const float id = finite_or_zero(1.0f / d);
  return {d, ends.low, offset_codes(x, ends.low, id, top), offset_codes(x + 16, ends.low, id, top)};
}

// Here the scale does not grow with the largest magnitude alone, so every block is looked at.
ASSAY_INLINE bool offset_fits(const float* src, int64_t n, float top) {
  if (largest_magnitude(src, n) >= kInfinityBits) return false;
  for (int64_t i = 0; i < n; i += ASSAY_QK) {
    const Ends ends = ends_of_32(src + i);
    if (!fits_half((ends.high - ends.low) / top) || !fits_half(ends.low)) return false;
  }
  return true;
}

struct q4_1 : decoder::q4_1 {
  ASSAY_INLINE static bool fits(const float* src, int64_t n) { return offset_fits(src, n, 15.0f); }
  ASSAY_INLINE static void encode(const float* x, BlockQ4_1& block) {
    const Offset c = encode_offset(x, 15.0f);
    block.d = to_half(c.d);
    block.m = to_half(c.low);
    store_nibbles(block.qs, c.first, c.second);
  }
};

struct q5_1 : decoder::q5_1 {
  ASSAY_INLINE static bool fits(const float* src, int64_t n) { return offset_fits(src, n, 31.0f); }
  ASSAY_INLINE static void encode(const float* x, BlockQ5_1& block) {
    const Offset c = encode_offset(x, 31.0f);
    block.d = to_half(c.d);
    block.m = to_half(c.low);
    store_fifth_bits(block.qh, c.first, c.second);
    store_nibbles(block.qs, c.first, c.second);
  }
};

// q8_0 for weight files: d = amax / 127, the product rounded half away from zero. The addend is the float below 0.5, so that
// 0.49999997 does not reach 1.
ASSAY_INLINE U8x16 away_codes(const float* x, float id) {
  const F32x16 p = mul(load(x), broadcast(id));
  const F32x16 up = add(magnitude(p), broadcast(0x1.fffffep-2f));
  return trunc_s8(with_sign_of(up, p));
}

struct q8_0 : decoder::q8_0 {
  ASSAY_INLINE static bool fits(const float* src, int64_t n) {
    return scale_fits(src, n, [](float amax) { return amax / 127.0f; });
  }
  ASSAY_INLINE static void encode(const float* x, BlockQ8_0& block) {
    const float d = bits_float(largest_magnitude(x, ASSAY_QK)) / 127.0f;
    const float id = finite_or_zero(1.0f / d);
    block.d = to_half(d);
    store_bytes(block.qs, away_codes(x, id));
    store_bytes(block.qs + 16, away_codes(x + 16, id));
  }
};

}  // namespace encoder
}  // namespace
}  // namespace assay
