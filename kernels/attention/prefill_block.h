/* Sixteen queries against a block of sixteen keys, for every ISA and cache type. After an ISA's header.

   A lane is a query (a row of one head) from end to end: Q lies transposed, every element of K and V is broadcast, and a
   score is the sum of sixteen accumulators in the order of dot16's tree. So nothing is shuffled, a query's mask is a lane's,
   and lanes differ in nothing but their data. */
#pragma once

#include <stdint.h>

#include "kernels/attention/view.h"
#include "kernels/simd/exp.h"

namespace assay {
namespace {

// Lanes past the last query repeat it and are not written.
struct QueryLanes {
  float* q;         // [16 residues][steps][16 lanes]: dimension 16 * step + residue
  float* o;         // [dim][16 lanes], of the span under way
  float* merged_o;  // of the spans before it
  F32x16 m;
  F32x16 l;
  F32x16 merged_m;
  F32x16 merged_l;  // 0: no span yet; a span with an unmasked key has l >= 1, or NaN
  KeyRange keys[kLanes];
  KeyRange some;  // positions that a lane sees
  KeyRange all;   // positions that every lane sees
};

// A block of keys and values, widened. The stride is no multiple of a large power of two: columns are read.
constexpr int64_t kPanelStride = kMaxHeadDim + kLanes;
struct Panel {
  alignas(64) float k[kKeyBlock * kPanelStride];
  alignas(64) float v[kKeyBlock * kPanelStride];
};

struct Shape {
  int64_t dim;
  int64_t steps;  // vectors that hold dim elements
  float scale;
};

// What the softmax of a block leaves for the sum of values.
struct BlockWeights {
  F32x16 p[kKeyBlock];     // the scores at first
  Mask16 live[kKeyBlock];  // the keys that take part
  F32x16 c;
  bool rescale;  // c is not 1 everywhere
  bool holes;    // not all keys take part
};

// dot16's tree takes its sums in this order: two neighbours, then two pairs, ...
constexpr int kTreeOrder[16] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};

// Adds up 2^Levels terms, each a row of Width vectors, that come in the tree's order: as a carry runs, two finished parts make the
// next larger one. After the last term, `term` is the sum.
template <int Levels, int Width>
struct TreeSum {
  F32x16 parts[Levels][Width];

  ASSAY_INLINE void take(int n, F32x16 (&term)[Width]) {
    int level = 0;
    for (; (n >> level & 1) != 0; ++level) {
      ASSAY_UNROLL
      for (int i = 0; i < Width; ++i) term[i] = add(parts[level][i], term[i]);
    }
    if (level == Levels) return;
    ASSAY_UNROLL
    for (int i = 0; i < Width; ++i) parts[level][i] = term[i];
  }
};

// The sums of a residue, of Vectors vectors of queries and Keys keys. A broadcast serves all vectors: a core loads no more operands
// a cycle than it multiplies.
template <int Vectors, int Keys>
ASSAY_INLINE void add_residue(const QueryLanes* lanes, const float* k, const Shape& shape, int residue,
                              F32x16 (&sum)[Vectors * Keys]) {
  const int64_t steps = (shape.dim - residue + kLanes - 1) / kLanes;
  ASSAY_UNROLL
  for (F32x16& one : sum) one = zero();
  for (int64_t i = 0; i < steps; ++i) {
    F32x16 query[Vectors];
    ASSAY_UNROLL
    for (int v = 0; v < Vectors; ++v) query[v] = load(lanes[v].q + (residue * shape.steps + i) * kLanes);
    const float* column = k + i * kLanes + residue;
    ASSAY_UNROLL
    for (int j = 0; j < Keys; ++j) {
      const F32x16 key = broadcast(column[j * kPanelStride]);
      ASSAY_UNROLL
      for (int v = 0; v < Vectors; ++v) sum[v * Keys + j] = fma(query[v], key, sum[v * Keys + j]);
    }
  }
}

// Scores of the Keys keys from `first` on.
template <int Vectors, int Keys>
inline void score_keys(const QueryLanes* lanes, const Panel& panel, const Shape& shape, int64_t first,
                       BlockWeights (&w)[Vectors]) {
  TreeSum<4, Vectors * Keys> tree;
  F32x16 sum[Vectors * Keys];
  for (int n = 0; n < 16; ++n) {
    add_residue<Vectors, Keys>(lanes, panel.k + first * kPanelStride, shape, kTreeOrder[n], sum);
    tree.take(n, sum);
  }
  ASSAY_UNROLL
  for (int v = 0; v < Vectors; ++v) {
    ASSAY_UNROLL
    for (int j = 0; j < Keys; ++j) w[v].p[first + j] = mul(broadcast(shape.scale), sum[v * Keys + j]);
  }
}

// Keys that a lane does not see get a score of -inf.
inline void mask_scores(const QueryLanes& lanes, int64_t block, F32x16* scores) {
  float begins[kLanes];
  float ends[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) {
    begins[i] = static_cast<float>(at_least(0, at_most(kKeyBlock, lanes.keys[i].begin - block)));
    ends[i] = static_cast<float>(at_least(0, at_most(kKeyBlock, lanes.keys[i].end - block)));
  }
  const F32x16 begin = load(begins);
  const F32x16 end = load(ends);
  const F32x16 masked = broadcast(kMasked);
  for (int j = 0; j < kKeyBlock; ++j) {
    const F32x16 key = broadcast(static_cast<float>(j));
    scores[j] = select(greater(begin, key), masked, scores[j]);
    scores[j] = select(greater(end, key), scores[j], masked);
  }
}

// Scores (in w.p) to weights; m and l move on.
inline void softmax_lanes(QueryLanes& lanes, BlockWeights& w) {
  const F32x16 masked = broadcast(kMasked);
  const F32x16 one = broadcast(1.0f);
  F32x16 highest = masked;
  F32x16 lowest = broadcast(__builtin_inff());
  for (const F32x16& score : w.p) {
    highest = max(score, highest);
    lowest = min(score, lowest);
  }
  w.holes = equal_bits(lowest, masked) != 0;
  const F32x16 m = max(highest, lanes.m);
  w.c = select(greater(highest, lanes.m), exp(sub(lanes.m, m)), one);
  w.rescale = equal_bits(w.c, one) != kAllKeys;
  TreeSum<4, 1> tree;
  F32x16 sum[1];
  for (int n = 0; n < kKeyBlock; ++n) {
    const int j = kTreeOrder[n];
    w.live[j] = differ(w.p[j], masked);
    sum[0] = select(w.live[j], exp(sub(w.p[j], m)), zero());
    w.p[j] = sum[0];
    tree.take(n, sum);
  }
  lanes.m = m;
  lanes.l = add(mul(lanes.l, w.c), sum[0]);
}

// o of the Columns dimensions from d on. Not inlined: in one large function GCC leaves sums of AVX2 in memory.
template <int Columns, bool Rescale, bool Holes, int Vectors>
__attribute__((noinline)) void add_columns(const QueryLanes* lanes, const float* values, int64_t d,
                                           const BlockWeights (&w)[Vectors]) {
  F32x16 sum[Vectors][Columns];
  ASSAY_UNROLL
  for (int v = 0; v < Vectors; ++v) {
    ASSAY_UNROLL
    for (int i = 0; i < Columns; ++i) sum[v][i] = load(lanes[v].o + (d + i) * kLanes);
    if constexpr (Rescale) {
      ASSAY_UNROLL
      for (int i = 0; i < Columns; ++i) sum[v][i] = mul(sum[v][i], w[v].c);
    }
  }
  for (int j = 0; j < kKeyBlock; ++j) {
    ASSAY_UNROLL
    for (int i = 0; i < Columns; ++i) {
      const F32x16 value = broadcast(values[j * kPanelStride + d + i]);
      ASSAY_UNROLL
      for (int v = 0; v < Vectors; ++v) {
        const F32x16 next = fma(w[v].p[j], value, sum[v][i]);
        sum[v][i] = Holes ? select(w[v].live[j], next, sum[v][i]) : next;
      }
    }
  }
  ASSAY_UNROLL
  for (int v = 0; v < Vectors; ++v) {
    ASSAY_UNROLL
    for (int i = 0; i < Columns; ++i) store(lanes[v].o + (d + i) * kLanes, sum[v][i]);
  }
}

// All dimensions, from d on: as many at a time as there are. What one vector does not need does no harm to it.
template <int Columns, int Vectors>
inline void add_values(const QueryLanes* lanes, const Panel& panel, const BlockWeights (&w)[Vectors], int64_t d, int64_t dim) {
  const bool holes = w[0].holes || w[Vectors - 1].holes;
  const bool rescale = w[0].rescale || w[Vectors - 1].rescale;
  for (; d + Columns <= dim; d += Columns) {
    if (holes) {
      add_columns<Columns, true, true>(lanes, panel.v, d, w);
    } else if (rescale) {
      add_columns<Columns, true, false>(lanes, panel.v, d, w);
    } else {
      add_columns<Columns, false, false>(lanes, panel.v, d, w);
    }
  }
  if constexpr (Columns > 1) add_values<Columns / 2>(lanes, panel, w, d, dim);
}

// One vector of queries or two take in a block. Sums vectors of sums fit into the registers.
template <int Sums, int Vectors>
inline void prefill_block(QueryLanes* lanes, const Panel& panel, const Shape& shape, int64_t block) {
  static_assert(Vectors <= 2);
  BlockWeights w[Vectors];
  constexpr int kKeys = Sums / Vectors;
  for (int64_t j = 0; j < kKeyBlock; j += kKeys) score_keys<Vectors, kKeys>(lanes, panel, shape, j, w);
  for (int v = 0; v < Vectors; ++v) {
    const bool full = lanes[v].all.begin <= block && block + kKeyBlock <= lanes[v].all.end;
    if (!full) mask_scores(lanes[v], block, w[v].p);
    softmax_lanes(lanes[v], w[v]);
  }
  add_values<Sums / Vectors>(lanes, panel, w, 0, shape.dim);
}

inline void begin_span(QueryLanes& lanes, int64_t dim) {
  lanes.m = broadcast(kMasked);
  lanes.l = zero();
  for (int64_t d = 0; d < dim; ++d) store(lanes.o + d * kLanes, zero());
}

inline void merge_span(QueryLanes& lanes, int64_t dim) {
  const Mask16 seen = differ(lanes.l, zero());
  const Mask16 merged = differ(lanes.merged_l, zero());
  const F32x16 m = max(lanes.merged_m, lanes.m);
  const F32x16 c1 = exp(sub(lanes.merged_m, m));
  const F32x16 c2 = exp(sub(lanes.m, m));
  const auto merge = [&](F32x16 before, F32x16 now) {
    return select(seen, select(merged, fma(c2, now, mul(c1, before)), now), before);
  };
  lanes.merged_m = select(seen, select(merged, m, lanes.m), lanes.merged_m);
  lanes.merged_l = merge(lanes.merged_l, lanes.l);
  for (int64_t d = 0; d < dim; ++d) {
    store(lanes.merged_o + d * kLanes, merge(load(lanes.merged_o + d * kLanes), load(lanes.o + d * kLanes)));
  }
}

}  // namespace
}  // namespace assay
