/* Many query rows against a view of keys and values, for every ISA and cache type. After an ISA's header.

   A lane is a query (a row of one head) from end to end: Q lies transposed, every element of K and V is broadcast, and a
   score is the sum of sixteen accumulators in the order of dot16's tree. So nothing is shuffled, a query's mask is a lane's,
   and lanes do not differ in anything but their data.

   Loops, outermost first: kv heads; chunks of queries, whose state stays in the second-level cache; blocks of 16 keys, widened
   once into a panel; sixteen or thirty-two queries. */
#pragma once

#include <stdint.h>

#include "kernels/abi.h"
#include "kernels/attention/view.h"
#include "kernels/simd/exp.h"
#include "kernels/simd/stream.h"
#include "kernels/simd/tile.h"

#define ASSAY_UNROLL _Pragma("GCC unroll 16")

namespace assay {
namespace {

// Sixteen queries. Lanes past the last query repeat it and are not written.
struct QueryLanes {
  float* q;         // [16 residues][steps][16 lanes]: dimension 16 * step + residue
  float* o;         // [dim][16 lanes], the span under way
  float* merged_o;  // the spans before it
  F32x16 m;
  F32x16 l;
  F32x16 merged_m;
  F32x16 merged_l;  // 0: no span yet; a span with an unmasked key has l >= 1, or NaN
  KeyRange keys[kLanes];
  KeyRange some;  // positions that a lane sees
  KeyRange all;   // positions that every lane sees
};

// A chunk is as many vectors of queries as have together this many dimensions.
constexpr int64_t kChunkDims = 512;
constexpr int64_t kMaxVectors = 8;
// The panels' rows are apart by no multiple of a large power of two: columns are read.
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

// The order in which dot16's tree takes its sums: two neighbours, then two pairs, ...
constexpr int kTreeOrder[16] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};

// Scores of Keys keys, whose panel rows begin at k, against Vectors vectors of queries.
template <int Keys, int Vectors>
inline void score_tile(const QueryLanes* lanes, const float* k, const Shape& shape, F32x16 (*scores)[Vectors]) {
  F32x16 pending[4][Keys][Vectors];
  F32x16 sum[Keys][Vectors];
  for (int n = 0; n < 16; ++n) {
    const int residue = kTreeOrder[n];
    ASSAY_UNROLL
    for (int j = 0; j < Keys; ++j) {
      ASSAY_UNROLL
      for (int v = 0; v < Vectors; ++v) sum[j][v] = zero();
    }
    const int64_t first = residue * shape.steps * kLanes;
    const int64_t steps = (shape.dim - residue + 15) / 16;
    for (int64_t i = 0; i < steps; ++i) {
      F32x16 q[Vectors];
      ASSAY_UNROLL
      for (int v = 0; v < Vectors; ++v) q[v] = load(lanes[v].q + first + i * kLanes);
      ASSAY_UNROLL
      for (int j = 0; j < Keys; ++j) {
        const F32x16 key = broadcast(k[j * kPanelStride + residue + i * kLanes]);
        ASSAY_UNROLL
        for (int v = 0; v < Vectors; ++v) sum[j][v] = fma(q[v], key, sum[j][v]);
      }
    }
    // As a carry runs: the sums of two finished halves make the next larger part of the tree.
    int level = 0;
    for (; (n >> level & 1) != 0; ++level) {
      ASSAY_UNROLL
      for (int j = 0; j < Keys; ++j) {
        ASSAY_UNROLL
        for (int v = 0; v < Vectors; ++v) sum[j][v] = add(pending[level][j][v], sum[j][v]);
      }
    }
    if (level == 4) break;
    ASSAY_UNROLL
    for (int j = 0; j < Keys; ++j) {
      ASSAY_UNROLL
      for (int v = 0; v < Vectors; ++v) pending[level][j][v] = sum[j][v];
    }
  }
  const F32x16 scale = broadcast(shape.scale);
  ASSAY_UNROLL
  for (int j = 0; j < Keys; ++j) {
    ASSAY_UNROLL
    for (int v = 0; v < Vectors; ++v) scores[j][v] = mul(scale, sum[j][v]);
  }
}

// What the softmax of a block leaves for the sum of values.
template <int Vectors>
struct BlockWeights {
  F32x16 p[kKeyBlock][Vectors];
  Mask16 live[kKeyBlock][Vectors];  // where holes: the keys that take part
  F32x16 c[Vectors];
  bool rescale;  // some c is not 1
  bool holes;    // some key of some lane takes no part
};

// Keys that a lane does not see get a score of -inf.
template <int Vectors>
inline void mask_scores(const QueryLanes& lanes, int64_t block, int v, F32x16 (*scores)[Vectors]) {
  float begin[kLanes];
  float end[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) {
    begin[i] = static_cast<float>(largest(0, least(kKeyBlock, lanes.keys[i].begin - block)));
    end[i] = static_cast<float>(largest(0, least(kKeyBlock, lanes.keys[i].end - block)));
  }
  const F32x16 masked = broadcast(kMasked);
  for (int j = 0; j < kKeyBlock; ++j) {
    const F32x16 key = broadcast(static_cast<float>(j));
    const F32x16 score = select(greater(load(begin), key), masked, scores[j][v]);
    scores[j][v] = select(greater(load(end), key), score, masked);
  }
}

// Scores (in w.p) to weights; m and l move on.
template <int Vectors>
ASSAY_INLINE void softmax_lanes(QueryLanes& lanes, int v, BlockWeights<Vectors>& w) {
  const F32x16 masked = broadcast(kMasked);
  F32x16 highest = masked;
  F32x16 lowest = broadcast(__builtin_inff());
  for (int j = 0; j < kKeyBlock; ++j) {
    highest = max(w.p[j][v], highest);
    lowest = min(w.p[j][v], lowest);
  }
  const Mask16 grew = greater(highest, lanes.m);
  const F32x16 m = max(highest, lanes.m);
  const F32x16 one = broadcast(1.0f);
  const F32x16 c = select(grew, exp(sub(lanes.m, m)), one);
  const bool holes = equal_bits(lowest, masked) != 0;
  F32x16 pending[4];
  F32x16 sum = zero();
  for (int n = 0; n < kKeyBlock; ++n) {
    F32x16& p = w.p[kTreeOrder[n]][v];
    const F32x16 weight = exp(sub(p, m));
    const Mask16 live = differ(p, masked);
    w.live[kTreeOrder[n]][v] = live;
    p = holes ? select(live, weight, zero()) : weight;
    sum = p;
    int level = 0;
    for (; (n >> level & 1) != 0; ++level) sum = add(pending[level], sum);
    if (level < 4) pending[level] = sum;
  }
  lanes.m = m;
  lanes.l = add(mul(lanes.l, c), sum);
  w.c[v] = c;
  w.rescale = w.rescale || equal_bits(c, one) != kAllKeys;
  w.holes = w.holes || holes;
}

// o[d] for Columns dimensions, whose panel column begins at `values`.
template <int Columns, int Vectors, bool Holes>
ASSAY_INLINE void value_tile(const QueryLanes* lanes, const float* values, const BlockWeights<Vectors>& w, int64_t d) {
  F32x16 sum[Columns][Vectors];
  ASSAY_UNROLL
  for (int i = 0; i < Columns; ++i) {
    ASSAY_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      sum[i][v] = load(lanes[v].o + (d + i) * kLanes);
      if (w.rescale) sum[i][v] = mul(sum[i][v], w.c[v]);
    }
  }
  for (int j = 0; j < kKeyBlock; ++j) {
    ASSAY_UNROLL
    for (int i = 0; i < Columns; ++i) {
      const F32x16 value = broadcast(values[j * kPanelStride + i]);
      ASSAY_UNROLL
      for (int v = 0; v < Vectors; ++v) {
        const F32x16 next = fma(w.p[j][v], value, sum[i][v]);
        sum[i][v] = Holes ? select(w.live[j][v], next, sum[i][v]) : next;
      }
    }
  }
  ASSAY_UNROLL
  for (int i = 0; i < Columns; ++i) {
    ASSAY_UNROLL
    for (int v = 0; v < Vectors; ++v) store(lanes[v].o + (d + i) * kLanes, sum[i][v]);
  }
}

// All dimensions, from d on: as many at a time as there are.
template <int Columns, int Vectors>
inline void add_values(const QueryLanes* lanes, const float* panel, const BlockWeights<Vectors>& w, int64_t d, int64_t dim) {
  for (; d + Columns <= dim; d += Columns) {
    if (w.holes) {
      value_tile<Columns, Vectors, true>(lanes, panel + d, w, d);
    } else {
      value_tile<Columns, Vectors, false>(lanes, panel + d, w, d);
    }
  }
  if constexpr (Columns > 1) add_values<Columns / 2, Vectors>(lanes, panel, w, d, dim);
}

// Vectors vectors of queries take in a block.
template <int Broadcasts, int Vectors>
inline void prefill_block(QueryLanes* lanes, const Panel& panel, const Shape& shape, int64_t block) {
  BlockWeights<Vectors> w;
  w.rescale = false;
  w.holes = false;
  for (int64_t j = 0; j < kKeyBlock; j += Broadcasts) {
    score_tile<Broadcasts, Vectors>(lanes, panel.k + j * kPanelStride, shape, w.p + j);
  }
  for (int v = 0; v < Vectors; ++v) {
    const bool full = lanes[v].all.begin <= block && block + kKeyBlock <= lanes[v].all.end;
    if (!full) mask_scores<Vectors>(lanes[v], block, v, w.p);
    softmax_lanes<Vectors>(lanes[v], v, w);
  }
  add_values<Broadcasts, Vectors>(lanes, panel.v, w, 0, shape.dim);
}

// Rows of the keys that some query sees. The others keep what was there: their scores are masked, their values not added.
template <class Widen, class Element>
inline void fill_panel(const KeyRows<Element>& rows, KeyRange keys, int64_t block, int64_t dim, Panel& panel) {
  const int64_t end = least(kKeyBlock, keys.end - block);
  for (int64_t j = largest(0, keys.begin - block); j < end; ++j) {
    stream(Widen{}, rows.k + j * rows.k_stride, panel.k + j * kPanelStride, dim);
    stream(Widen{}, rows.v + j * rows.v_stride, panel.v + j * kPanelStride, dim);
  }
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
