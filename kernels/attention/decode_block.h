/* The query heads of a kv head against a block of sixteen keys, for every ISA and cache type. After an ISA's header.

   The query heads of a kv head go through its keys together, so K and V are read once. A lane is one of dot16's sixteen
   sums while scores are made, a key in the softmax, a dimension in the sum of values. */
#pragma once

#include <stdint.h>

#include "kernels/attention/view.h"
#include "kernels/simd/exp.h"
#include "kernels/simd/stream.h"

namespace assay {
namespace {

// Heads whose state is kept at once; further ones read K and V again.
constexpr int64_t kHeadsAtOnce = 16;

// The heads of one kv head: the span under way (o, m, l) and the merged ones before it.
struct DecodeHeads {
  const float* q;  // q_stride apart
  int64_t q_stride;
  int64_t dim;
  int64_t o_stride;  // dim, rounded up to whole vectors
  float scale;
  alignas(64) float o[kHeadsAtOnce * kMaxHeadDim];
  alignas(64) float merged_o[kHeadsAtOnce * kMaxHeadDim];
  float m[kHeadsAtOnce];
  float l[kHeadsAtOnce];
  float merged_m[kHeadsAtOnce];
  float merged_l[kHeadsAtOnce];  // 0: no span yet; a span with an unmasked key has l >= 1, or NaN
};

// K and V are prefetched a line at a step, two blocks ahead, into the second level. Into the first, whose outstanding misses are
// few, the loads behind the prefetches wait: measured on Zen 4, 52 % of the read roof instead of 95 %.
constexpr int64_t kPrefetchBlocks = 2;
ASSAY_INLINE void prefetch_second_level(const void* line) {
  __builtin_prefetch(line, 0, 2);
}

ASSAY_INLINE float exp1(float x) {
  return lane(exp(broadcast(x)), 0);
}

// One step of dot16 for Heads queries by Keys keys: the n dimensions at q and k.
template <class Widen, int Heads, int Keys, bool Tail, class Element>
ASSAY_INLINE void dot_step(const float* q, int64_t q_stride, const Element* k, const Element* ahead, int64_t k_stride, int64_t n,
                           F32x16 (&sums)[Heads][Keys]) {
  constexpr Widen widen{};
  F32x16 key[Keys];
  ASSAY_UNROLL
  for (int j = 0; j < Keys; ++j) {
    prefetch_second_level(ahead + j * k_stride);
    key[j] = Tail ? widen(load_tail(k + j * k_stride, n)) : widen(k + j * k_stride);
  }
  ASSAY_UNROLL
  for (int h = 0; h < Heads; ++h) {
    const F32x16 query = Tail ? load_tail(q + h * q_stride, n) : load_once(q + h * q_stride);
    ASSAY_UNROLL
    for (int j = 0; j < Keys; ++j) sums[h][j] = fma(query, key[j], sums[h][j]);
  }
}

// dot16's sixteen sums. A padded lane adds 0 * 0: at most the sign of a zero changes, and a score of -0 weighs as one of +0.
template <class Widen, int Heads, int Keys, class Element>
ASSAY_INLINE void dot_sums(const DecodeHeads& heads, int64_t head, const Element* k, const Element* ahead, int64_t k_stride,
                           F32x16 (&sums)[Heads][Keys]) {
  const float* q = heads.q + head * heads.q_stride;
  ASSAY_UNROLL
  for (int h = 0; h < Heads; ++h) {
    ASSAY_UNROLL
    for (int j = 0; j < Keys; ++j) sums[h][j] = zero();
  }
  int64_t d = 0;
  for (; d + kLanes <= heads.dim; d += kLanes) {
    dot_step<Widen, Heads, Keys, false>(q + d, heads.q_stride, k + d, ahead + d, k_stride, kLanes, sums);
  }
  if (d < heads.dim) {
    dot_step<Widen, Heads, Keys, true>(q + d, heads.q_stride, k + d, ahead + d, k_stride, heads.dim - d, sums);
  }
}

// The scores of a block all of whose keys are unmasked.
template <class Widen, int Heads, int Keys, class Element>
ASSAY_INLINE void full_scores(const DecodeHeads& heads, int64_t head, const KeyRows<Element>& rows, const Element* ahead,
                              F32x16 (&scores)[Heads]) {
  F32x16 quarters[Heads][4];
  for (int64_t t = 0; t < 4; ++t) {
    F32x16 sums[Heads][4];
    for (int64_t i = 0; i < 4; i += Keys) {
      F32x16 part[Heads][Keys];
      const int64_t row = (t + 4 * i) * rows.k_stride;
      dot_sums<Widen, Heads, Keys>(heads, head, rows.k + row, ahead + row, 4 * rows.k_stride, part);
      for (int h = 0; h < Heads; ++h) {
        for (int j = 0; j < Keys; ++j) sums[h][i + j] = part[h][j];
      }
    }
    for (int h = 0; h < Heads; ++h) quarters[h][t] = quarter_sums(sums[h]);
  }
  for (int h = 0; h < Heads; ++h) scores[h] = mul(broadcast(heads.scale), finish_sums(quarters[h]));
}

// The same where some keys are masked: those are not read.
template <class Widen, int Heads, class Element>
inline void partial_scores(const DecodeHeads& heads, int64_t head, const KeyRows<Element>& rows, uint32_t unmasked,
                           F32x16 (&scores)[Heads]) {
  float s[Heads][kKeyBlock];
  for (int64_t j = 0; j < kKeyBlock; ++j) {
    for (int h = 0; h < Heads; ++h) s[h][j] = kMasked;
    if ((unmasked >> j & 1) == 0) continue;
    const Element* k = rows.k + j * rows.k_stride;
    F32x16 sums[Heads][1];
    dot_sums<Widen, Heads, 1>(heads, head, k, k, 0, sums);
    for (int h = 0; h < Heads; ++h) s[h][j] = heads.scale * tree_sum(sums[h][0]);
  }
  for (int h = 0; h < Heads; ++h) scores[h] = load(s[h]);
}

// p of a block and the factor c that o still needs. Returns the keys that take part; where there is none nothing changes.
ASSAY_INLINE uint32_t softmax_block(DecodeHeads& heads, int64_t head, F32x16 scores, float* p, float& c) {
  const uint32_t live = kAllKeys & ~equal_bits(scores, broadcast(kMasked));
  c = 1.0f;
  if (live == 0) return 0;
  float& m = heads.m[head];
  const float block_max = tree_max(scores);
  if (block_max > m) {
    c = exp1(m - block_max);
    m = block_max;
  }
  const F32x16 weights = exp(sub(scores, broadcast(m)));
  store(p, weights);
  heads.l[head] = heads.l[head] * c + tree_sum(weights);
  return live;
}

// o[d] for Columns vectors of dimensions from d on.
template <class Widen, int Heads, int Columns, bool Tail, class Element>
ASSAY_INLINE void add_values(DecodeHeads& heads, int64_t head, const KeyRows<Element>& rows, const Element* ahead, uint32_t live,
                             const float (*p)[kKeyBlock], const float* c, int64_t d) {
  constexpr Widen widen{};
  F32x16 sums[Heads][Columns];
  ASSAY_UNROLL
  for (int h = 0; h < Heads; ++h) {
    ASSAY_UNROLL
    for (int i = 0; i < Columns; ++i) {
      sums[h][i] = mul(load(heads.o + (head + h) * heads.o_stride + d + i * kLanes), broadcast(c[h]));
    }
  }
  for (int64_t j = 0; j < kKeyBlock; ++j) {
    if ((live >> j & 1) == 0) continue;
    const Element* v = rows.v + j * rows.v_stride + d;
    F32x16 value[Columns];
    ASSAY_UNROLL
    for (int i = 0; i < Columns; ++i) {
      prefetch_second_level(ahead + j * rows.v_stride + d + i * kLanes);
      value[i] = Tail ? widen(load_tail(v, heads.dim - d)) : widen(v + i * kLanes);
    }
    ASSAY_UNROLL
    for (int h = 0; h < Heads; ++h) {
      const F32x16 weight = broadcast(p[h][j]);
      ASSAY_UNROLL
      for (int i = 0; i < Columns; ++i) sums[h][i] = fma(weight, value[i], sums[h][i]);
    }
  }
  ASSAY_UNROLL
  for (int h = 0; h < Heads; ++h) {
    ASSAY_UNROLL
    for (int i = 0; i < Columns; ++i) store(heads.o + (head + h) * heads.o_stride + d + i * kLanes, sums[h][i]);
  }
}

// All dimensions, from d on: as many vectors at a time as there are.
template <class Widen, int Heads, int Columns, class Element>
ASSAY_INLINE void add_all_values(DecodeHeads& heads, int64_t head, const KeyRows<Element>& rows, const Element* ahead,
                                 uint32_t live, const float (*p)[kKeyBlock], const float* c, int64_t d) {
  for (; d + Columns * kLanes <= heads.dim; d += Columns * kLanes) {
    add_values<Widen, Heads, Columns, false>(heads, head, rows, ahead, live, p, c, d);
  }
  if constexpr (Columns > 1) {
    add_all_values<Widen, Heads, Columns / 2>(heads, head, rows, ahead, live, p, c, d);
  } else if (d < heads.dim) {
    add_values<Widen, Heads, 1, true>(heads, head, rows, ahead, live, p, c, d);
  }
}

// Heads heads from `head` on take in a block. Sums vectors of sums fit into the registers.
template <class Widen, int Heads, int Sums, class Element>
inline void decode_block(DecodeHeads& heads, int64_t head, const KeyRows<Element>& rows, const KeyRows<Element>& ahead,
                         uint32_t unmasked) {
  constexpr int kSums = Sums / Heads;
  constexpr int kKeys = kSums < 4 ? kSums : 4;
  F32x16 scores[Heads];
  if (unmasked == kAllKeys) {
    full_scores<Widen, Heads, kKeys>(heads, head, rows, ahead.k, scores);
  } else {
    partial_scores<Widen, Heads>(heads, head, rows, unmasked, scores);
  }
  alignas(64) float p[Heads][kKeyBlock];
  float c[Heads];
  uint32_t live[Heads];
  bool same = true;
  for (int h = 0; h < Heads; ++h) {
    live[h] = softmax_block(heads, head + h, scores[h], p[h], c[h]);
    same = same && live[h] == live[0];
  }
  if (same) {
    add_all_values<Widen, Heads, kSums>(heads, head, rows, ahead.v, live[0], p, c, 0);
  } else {  // Scores of -inf, which count as masked.
    for (int h = 0; h < Heads; ++h) add_all_values<Widen, 1, 4>(heads, head + h, rows, ahead.v, live[h], p + h, c + h, 0);
  }
}

// As many heads at a time as there are.
template <class Widen, int Heads, int Sums, class Element>
ASSAY_INLINE void decode_heads(DecodeHeads& heads, int64_t head, int64_t count, const KeyRows<Element>& rows,
                               const KeyRows<Element>& ahead, uint32_t unmasked) {
  for (; head + Heads <= count; head += Heads) decode_block<Widen, Heads, Sums>(heads, head, rows, ahead, unmasked);
  if constexpr (Heads > 1) decode_heads<Widen, Heads / 2, Sums>(heads, head, count, rows, ahead, unmasked);
}

}  // namespace
}  // namespace assay
