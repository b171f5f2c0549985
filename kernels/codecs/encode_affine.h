/* encode_q4_k and encode_q5_k: the search of search_affine.h, and its result as bytes. After one of the bytes_*.h headers. */
#pragma once

#include "kernels/codecs/search_affine.h"

namespace assay {
namespace {
namespace encoder {

// The plain scales, with zero among the values: d = (high - low) / (63 top), dmin = -low / 63.
ASSAY_INLINE bool affine_block_fits(const float* x, float top) {
  float low = 0.0f;
  float range = 0.0f;
  for (int j = 0; j < kSubs; ++j) {
    const Ends ends = ends_of_32(x + j * kSub);
    const float from = ends.low < 0.0f ? ends.low : 0.0f;
    const float to = ends.high > 0.0f ? ends.high : 0.0f;
    low = from < low ? from : low;
    range = to - from > range ? to - from : range;
  }
  return fits_half(range / (63.0f * top)) && fits_half(-low / 63.0f);
}

ASSAY_INLINE bool affine_fits(const float* x, int64_t n, float top) {
  return super_blocks_fit(x, n, [top](const float* block) { return affine_block_fits(block, top); });
}

struct AffineBlock {
  uint16_t d;
  uint16_t dmin;
  ScalesMins scales;
  uint8_t codes[ASSAY_QK_K];
};

inline void write_codes(const AffineTask& task, const AffineScales& s, uint8_t* codes) {
  for (int j = 0; j < kSubs; ++j) {
    const float a = s.d * s.sc[j];
    const F32x16 inverse = broadcast(finite_or_zero(1.0f / a));  // code 0 where the scale is 0
    const F32x16 b = broadcast(s.dmin * s.m[j]);
    for (int i = j * kSub; i < (j + 1) * kSub; i += 16) {
      store_bytes(codes + i, trunc_s8(affine_code(add(load(task.x + i), b), inverse, broadcast(task.top))));
    }
  }
}

inline AffineBlock encode_affine(const float* x, float top) {
  AffineBlock block = {};
  if (bits_float(largest_magnitude(x, ASSAY_QK_K)) <= kRoundsToZero) return block;
  AffineTask sides[2];
  sides[0].top = top;
  for (int i = 0; i < ASSAY_QK_K; i += 16) store(sides[0].x + i, load(x + i));
  weigh(sides[0]);
  sides[1] = sides[0];
  for (int i = 0; i < ASSAY_QK_K; i += 16) store(sides[1].x + i, neg(load(x + i)));
  for (int j = 0; j < kSubs; ++j) sides[1].sum_wx[j] = -sides[0].sum_wx[j];

  const AffineScales s = search_affine(sides);
  const bool turn = s.side == 1;
  block.d = to_half(turn ? -s.d : s.d);
  block.dmin = to_half(turn ? -s.dmin : s.dmin);
  for (int j = 0; j < kSubs; ++j) {
    block.scales.sc[j] = static_cast<uint8_t>(s.sc[j]);
    block.scales.m[j] = static_cast<uint8_t>(s.m[j]);
  }
  write_codes(sides[s.side], s, block.codes);
  return block;
}

// For each 64 elements 32 bytes, the first 32 elements low.
ASSAY_INLINE void store_nibbles_of_256(uint8_t* qs, const uint8_t* codes) {
  for (int i = 0; i < 128; i += 16) {
    const uint8_t* from = codes + i / 32 * 64 + i % 32;
    store_bytes(qs + i, bits_or(bits_and(load_bytes(from), 15), shift_left(load_bytes(from + 32), 4)));
  }
}

struct q4_k : decoder::q4_k {
  ASSAY_INLINE static bool fits(const float* x, int64_t n) { return affine_fits(x, n, 15.0f); }
  ASSAY_INLINE static void encode(const float* x, BlockQ4_K& out) {
    const AffineBlock block = encode_affine(x, 15.0f);
    out.d = block.d;
    out.dmin = block.dmin;
    pack_scales_mins(block.scales, out.scales);
    store_nibbles_of_256(out.qs, block.codes);
  }
};

struct q5_k : decoder::q5_k {
  ASSAY_INLINE static bool fits(const float* x, int64_t n) { return affine_fits(x, n, 31.0f); }
  ASSAY_INLINE static void encode(const float* x, BlockQ5_K& out) {
    const AffineBlock block = encode_affine(x, 31.0f);
    out.d = block.d;
    out.dmin = block.dmin;
    pack_scales_mins(block.scales, out.scales);
    store_nibbles_of_256(out.qs, block.codes);
    for (int i = 0; i < 32; ++i) {
      int bits = 0;
      for (int j = 0; j < kSubs; ++j) bits |= (block.codes[j * kSub + i] >> 4) << j;
      out.qh[i] = static_cast<uint8_t>(bits);
    }
  }
};

}  // namespace encoder
}  // namespace
}  // namespace assay
