/* Blocks to floats: the value of each format, sixteen elements at a time. After one of the bytes_*.h headers. */
#pragma once

#include "kernels/formats/blocks.h"
#include "kernels/formats/half.h"
#include "kernels/formats/unpack.h"

namespace assay {
namespace {
namespace decoder {

// Codes of 32 elements: the low nibbles are elements 0..15, the high ones 16..31.
struct Codes32 {
  U8x16 first;
  U8x16 second;
};
ASSAY_INLINE Codes32 codes_of_nibbles(const uint8_t* qs) {
  const U8x16 bytes = load_bytes(qs);
  return {bits_and(bytes, 15), shift_right(bytes, 4)};
}
ASSAY_INLINE Codes32 codes_with_fifth_bits(const uint8_t* qs, const uint8_t* qh) {
  const Codes32 nibbles = codes_of_nibbles(qs);
  const uint32_t low = static_cast<uint32_t>(qh[0] | qh[1] << 8);
  const uint32_t high = static_cast<uint32_t>(qh[2] | qh[3] << 8);
  return {bits_or(nibbles.first, bytes_where(low, 16)), bits_or(nibbles.second, bytes_where(high, 16))};
}

struct q4_0 {
  using Block = BlockQ4_0;
  static constexpr int64_t kElements = ASSAY_QK;
  ASSAY_INLINE static void decode(const BlockQ4_0& block, float* dst) {
    const F32x16 d = broadcast(half_value(block.d));
    const Codes32 q = codes_of_nibbles(block.qs);
    store(dst, mul(d, widen_s8(minus(q.first, 8))));
    store(dst + 16, mul(d, widen_s8(minus(q.second, 8))));
  }
};

struct q4_1 {
  using Block = BlockQ4_1;
  static constexpr int64_t kElements = ASSAY_QK;
  ASSAY_INLINE static void decode(const BlockQ4_1& block, float* dst) {
    const F32x16 d = broadcast(half_value(block.d));
    const F32x16 m = broadcast(half_value(block.m));
    const Codes32 q = codes_of_nibbles(block.qs);
    store(dst, add(mul(d, widen_u8(q.first)), m));
    store(dst + 16, add(mul(d, widen_u8(q.second)), m));
  }
};

struct q5_0 {
  using Block = BlockQ5_0;
  static constexpr int64_t kElements = ASSAY_QK;
  ASSAY_INLINE static void decode(const BlockQ5_0& block, float* dst) {
    const F32x16 d = broadcast(half_value(block.d));
    const Codes32 q = codes_with_fifth_bits(block.qs, block.qh);
    store(dst, mul(d, widen_s8(minus(q.first, 16))));
    store(dst + 16, mul(d, widen_s8(minus(q.second, 16))));
  }
};

struct q5_1 {
  using Block = BlockQ5_1;
  static constexpr int64_t kElements = ASSAY_QK;
  ASSAY_INLINE static void decode(const BlockQ5_1& block, float* dst) {
    const F32x16 d = broadcast(half_value(block.d));
    const F32x16 m = broadcast(half_value(block.m));
    const Codes32 q = codes_with_fifth_bits(block.qs, block.qh);
    store(dst, add(mul(d, widen_u8(q.first)), m));
    store(dst + 16, add(mul(d, widen_u8(q.second)), m));
  }
};

struct q8_0 {
  using Block = BlockQ8_0;
  static constexpr int64_t kElements = ASSAY_QK;
  ASSAY_INLINE static void decode(const BlockQ8_0& block, float* dst) {
    const F32x16 d = broadcast(half_value(block.d));
    store(dst, mul(d, widen_s8(load_bytes(block.qs))));
    store(dst + 16, mul(d, widen_s8(load_bytes(block.qs + 16))));
  }
};

// (d sc) q - (dmin m) of sixteen elements of a sub-block.
ASSAY_INLINE void store_scaled(float* dst, float scale, float minimum, U8x16 q) {
  store(dst, sub(mul(broadcast(scale), widen_u8(q)), broadcast(minimum)));
}

struct q4_k {
  using Block = BlockQ4_K;
  static constexpr int64_t kElements = ASSAY_QK_K;
  ASSAY_INLINE static void decode(const BlockQ4_K& block, float* dst) {
    const float d = half_value(block.d);
    const float dmin = half_value(block.dmin);
    const ScalesMins s = unpack_scales_mins(block.scales);
    for (int j = 0; j < 8; j += 2) {
      const float d0 = d * s.sc[j];
      const float d1 = d * s.sc[j + 1];
      const float m0 = dmin * s.m[j];
      const float m1 = dmin * s.m[j + 1];
      for (int i = 0; i < 32; i += 16) {
        const U8x16 bytes = load_bytes(block.qs + j * 16 + i);
        store_scaled(dst + j * 32 + i, d0, m0, bits_and(bytes, 15));
        store_scaled(dst + j * 32 + 32 + i, d1, m1, shift_right(bytes, 4));
      }
    }
  }
};

struct q5_k {
  using Block = BlockQ5_K;
  static constexpr int64_t kElements = ASSAY_QK_K;
  ASSAY_INLINE static void decode(const BlockQ5_K& block, float* dst) {
    const float d = half_value(block.d);
    const float dmin = half_value(block.dmin);
    const ScalesMins s = unpack_scales_mins(block.scales);
    for (int i = 0; i < 32; i += 16) {
      U8x16 fifth = load_bytes(block.qh + i);  // the bits of the two sub-blocks at hand are moved to the bottom
      for (int j = 0; j < 8; j += 2) {
        const U8x16 bytes = load_bytes(block.qs + j * 16 + i);
        const U8x16 even = bits_or(bits_and(bytes, 15), shift_left(bits_and(fifth, 1), 4));
        const U8x16 odd = bits_or(shift_right(bytes, 4), shift_left(bits_and(fifth, 2), 3));
        store_scaled(dst + j * 32 + i, d * s.sc[j], dmin * s.m[j], even);
        store_scaled(dst + j * 32 + 32 + i, d * s.sc[j + 1], dmin * s.m[j + 1], odd);
        fifth = shift_right(fifth, 2);
      }
    }
  }
};

struct q6_k {
  using Block = BlockQ6_K;
  static constexpr int64_t kElements = ASSAY_QK_K;
  ASSAY_INLINE static void decode(const BlockQ6_K& block, float* dst) {
    const float d = half_value(block.d);
    for (int half = 0; half < 2; ++half) {
      const int8_t* sc = block.scales + half * 8;
      float* out = dst + half * 128;
      for (int i = 0; i < 2; ++i) {  // elements 16 i .. 16 i + 15 of each quarter
        const U8x16 low = load_bytes(block.ql + half * 64 + i * 16);
        const U8x16 low2 = load_bytes(block.ql + half * 64 + 32 + i * 16);
        const U8x16 high = load_bytes(block.qh + half * 32 + i * 16);
        const U8x16 q[4] = {bits_or(bits_and(low, 15), shift_left(bits_and(high, 3), 4)),
                            bits_or(bits_and(low2, 15), shift_left(bits_and(high, 12), 2)),
                            bits_or(shift_right(low, 4), bits_and(high, 0x30)),
                            bits_or(shift_right(low2, 4), shift_right(bits_and(high, 0xc0), 2))};
        for (int quarter = 0; quarter < 4; ++quarter) {
          const F32x16 scale = broadcast(d * sc[quarter * 2 + i]);
          store(out + quarter * 32 + i * 16, mul(scale, widen_s8(minus(q[quarter], 32))));
        }
      }
    }
  }
};

struct q8_k {
  using Block = BlockQ8_K;
  static constexpr int64_t kElements = ASSAY_QK_K;
  ASSAY_INLINE static void decode(const BlockQ8_K& block, float* dst) {
    const F32x16 d = broadcast(block.d);
    for (int i = 0; i < ASSAY_QK_K; i += 16) store(dst + i, mul(d, widen_s8(load_bytes(block.qs + i))));
  }
};

}  // namespace decoder
}  // namespace
}  // namespace assay
