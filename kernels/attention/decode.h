/* One query row a head against a view of keys and values: kv heads, spans, blocks. After an ISA's header. */
#pragma once

#include <stdint.h>

#include "kernels/attention/decode_block.h"
#include "kernels/attention/registers.h"
#include "kernels/simd/stream.h"

namespace assay {
namespace {

inline void begin_span(DecodeHeads& heads, int64_t count) {
  for (int64_t h = 0; h < count; ++h) {
    heads.m[h] = kMasked;
    heads.l[h] = 0.0f;
  }
  for (int64_t i = 0; i < count * heads.o_stride; i += kLanes) store(heads.o + i, zero());
}

inline void merge_span(DecodeHeads& heads, int64_t h) {
  if (heads.l[h] == 0.0f) return;
  float* merged = heads.merged_o + h * heads.o_stride;
  const float* o = heads.o + h * heads.o_stride;
  if (heads.merged_l[h] == 0.0f) {
    heads.merged_m[h] = heads.m[h];
    heads.merged_l[h] = heads.l[h];
    stream(Copy{}, o, merged, heads.o_stride);
    return;
  }
  const float m = heads.merged_m[h] > heads.m[h] ? heads.merged_m[h] : heads.m[h];
  const float c1 = exp1(heads.merged_m[h] - m);
  const float c2 = exp1(heads.m[h] - m);
  heads.merged_m[h] = m;
  heads.merged_l[h] = __builtin_fmaf(c2, heads.l[h], c1 * heads.merged_l[h]);
  for (int64_t d = 0; d < heads.o_stride; d += kLanes) {
    store(merged + d, fma(broadcast(c2), load(o + d), mul(broadcast(c1), load(merged + d))));
  }
}

// y = o / l, or +0 where no key was unmasked.
inline void finish_head(const DecodeHeads& heads, int64_t h, float* y) {
  const float* o = heads.merged_o + h * heads.o_stride;
  const float l = heads.merged_l[h];
  for (int64_t d = 0; d < heads.dim; d += kLanes) {
    const F32x16 result = l == 0.0f ? zero() : div(load(o + d), broadcast(l));
    store_tail(y + d, result, at_most(kLanes, heads.dim - d));
  }
}

// Bit j: position block + j lies in `keys`.
ASSAY_INLINE uint32_t unmasked_bits(KeyRange keys, int64_t block) {
  const uint32_t low = kAllKeys << at_least(0, keys.begin - block);
  const uint32_t high = kAllKeys >> at_least(0, block + kKeyBlock - keys.end);
  return low & high;
}

template <class Cache, int Heads, int Sums>
inline void decode_keys(const AttentionArgs& args, DecodeHeads& heads, int64_t count, int64_t kv_head, KeyRange keys) {
  using Element = typename Cache::Stored;
  ViewWalk<Element> walk(args, kv_head, keys.begin);
  int64_t block = round_down(keys.begin, kKeyBlock);
  ViewWalk<Element> walk_ahead = walk;
  const int64_t last_block = round_down(keys.end - 1, kKeyBlock);
  while (block < keys.end) {
    begin_span(heads, count);
    const int64_t span_end = at_most(round_down(block, kKeySpan) + kKeySpan, keys.end);
    for (; block < span_end; block += kKeyBlock) {
      const KeyRows<Element> ahead = walk_ahead.block(at_most(block + kPrefetchBlocks * kKeyBlock, last_block));
      decode_heads<typename Cache::Widen, Heads, Sums>(heads, 0, count, walk.block(block), ahead, unmasked_bits(keys, block));
    }
    for (int64_t h = 0; h < count; ++h) merge_span(heads, h);
  }
}

template <class Cache, Registers R>
inline AssayStatus attn_decode(const AttentionArgs& args) {
  if (args.rows != 1) return ASSAY_BAD_SHAPE;
  const AssayStatus status = check_attention(args);
  if (status != ASSAY_OK || args.n_heads == 0) return status;
  const KeyRange keys = unmasked_keys(args, args.position);
  const int64_t group = args.n_heads / args.n_kv;
  DecodeHeads heads;
  heads.dim = args.head_dim;
  heads.o_stride = round_down(args.head_dim + kLanes - 1, kLanes);
  heads.q_stride = args.q_head_stride;
  heads.scale = args.scale;
  for (int64_t head = 0; head < args.n_heads;) {
    const int64_t kv_head = head / group;
    const int64_t count = at_most(kHeadsAtOnce, (kv_head + 1) * group - head);
    heads.q = args.q + head * args.q_head_stride;
    for (int64_t h = 0; h < count; ++h) heads.merged_l[h] = 0.0f;
    if (keys.begin < keys.end) decode_keys<Cache, R.decode_heads, R.decode_sums>(args, heads, count, kv_head, keys);
    for (int64_t h = 0; h < count; ++h) finish_head(heads, h, args.y + (head + h) * args.y_head_stride);
    head += count;
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
