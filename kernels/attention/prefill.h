/* Prefill's loops, outermost first: kv heads; chunks of queries, whose state stays in the second-level cache; spans; blocks of
   keys, widened once for the chunk; sixteen queries or two times sixteen. After an ISA's header. */
#pragma once

#include <stdint.h>

#include "kernels/attention/prefill_block.h"
#include "kernels/attention/registers.h"
#include "kernels/simd/stream.h"

namespace assay {
namespace {

// A chunk is as many vectors of queries as have together this many dimensions.
constexpr int64_t kChunkDims = 512;
constexpr int64_t kMaxVectors = 8;

// The queries of one kv head, counted through: query e is row e / group, head first_head + e % group.
struct Queries {
  int64_t count;
  int64_t group;
  int64_t first_head;
};

struct Chunk {
  QueryLanes lanes[kMaxVectors];
  int64_t vectors;
  alignas(64) float q[kLanes * (kChunkDims + kMaxVectors * kLanes)];
  alignas(64) float o[kLanes * kChunkDims];
  alignas(64) float merged_o[kLanes * kChunkDims];
};

ASSAY_INLINE KeyRange join(KeyRange a, KeyRange b) {
  return {at_most(a.begin, b.begin), at_least(a.end, b.end)};
}
ASSAY_INLINE KeyRange common(KeyRange a, KeyRange b) {
  return {at_least(a.begin, b.begin), at_most(a.end, b.end)};
}

// Sixteen queries from `first` on.
inline void load_queries(const AttentionArgs& args, const Queries& queries, int64_t first, const Shape& shape,
                         QueryLanes& lanes) {
  const float* q[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) {
    const int64_t e = at_most(first + i, queries.count - 1);
    const int64_t row = e / queries.group;
    q[i] = args.q + row * args.q_row_stride + (queries.first_head + e % queries.group) * args.q_head_stride;
    const KeyRange keys = unmasked_keys(args, args.position + row);
    lanes.keys[i] = keys;
    lanes.some = i == 0 ? keys : join(lanes.some, keys);
    lanes.all = i == 0 ? keys : common(lanes.all, keys);
  }
  for (int64_t step = 0; step < shape.steps; ++step) {
    const int64_t d = step * kLanes;
    F32x16 rows[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) rows[i] = load_tail(q[i] + d, at_most(kLanes, shape.dim - d));
    transpose16(rows);
    for (int64_t residue = 0; residue < kLanes; ++residue) {
      store(lanes.q + (residue * shape.steps + step) * kLanes, rows[residue]);
    }
  }
}

inline void load_chunk(const AttentionArgs& args, const Queries& queries, int64_t first, const Shape& shape, Chunk& chunk) {
  for (int64_t i = 0; i < chunk.vectors; ++i) {
    QueryLanes& lanes = chunk.lanes[i];
    lanes.q = chunk.q + i * shape.steps * kLanes * kLanes;
    lanes.o = chunk.o + i * shape.dim * kLanes;
    lanes.merged_o = chunk.merged_o + i * shape.dim * kLanes;
    lanes.merged_l = zero();
    load_queries(args, queries, first + i * kLanes, shape, lanes);
  }
}

// y = o / l, or +0 where no key was unmasked.
inline void finish_queries(const AttentionArgs& args, const Queries& queries, int64_t first, const QueryLanes& lanes) {
  const Mask16 seen = differ(lanes.merged_l, zero());
  for (int64_t d = 0; d < args.head_dim; d += kLanes) {
    const int64_t n = at_most(kLanes, args.head_dim - d);
    F32x16 rows[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) {
      rows[i] = i < n ? select(seen, div(load(lanes.merged_o + (d + i) * kLanes), lanes.merged_l), zero()) : zero();
    }
    transpose16(rows);
    for (int64_t i = 0; i < at_most(kLanes, queries.count - first); ++i) {
      const int64_t row = (first + i) / queries.group;
      const int64_t head = queries.first_head + (first + i) % queries.group;
      store_tail(args.y + row * args.y_row_stride + head * args.y_head_stride + d, rows[i], n);
    }
  }
}

// Rows of the keys that some query sees. The others keep what was there: their scores are masked, their values not added.
template <class Widen, class Element>
inline void fill_panel(const KeyRows<Element>& rows, KeyRange keys, int64_t block, int64_t dim, Panel& panel) {
  const int64_t end = at_most(kKeyBlock, keys.end - block);
  for (int64_t j = at_least(0, keys.begin - block); j < end; ++j) {
    stream(Widen{}, rows.k + j * rows.k_stride, panel.k + j * kPanelStride, dim);
    stream(Widen{}, rows.v + j * rows.v_stride, panel.v + j * kPanelStride, dim);
  }
}

// Vectors of queries from i on, `Vectors` at a time, the last alone; those that see nothing of the block are left out.
template <int Sums, int Vectors>
inline void chunk_block(Chunk& chunk, int64_t i, const Panel& panel, const Shape& shape, int64_t block) {
  for (; i + Vectors <= chunk.vectors; i += Vectors) {
    const KeyRange some = join(chunk.lanes[i].some, chunk.lanes[i + Vectors - 1].some);
    const bool sees = some.begin < block + kKeyBlock && block < some.end;
    if (sees) prefill_block<Sums, Vectors>(chunk.lanes + i, panel, shape, block);
  }
  if constexpr (Vectors > 1) chunk_block<Sums, 1>(chunk, i, panel, shape, block);
}

template <class Cache, int Sums, int Vectors>
inline void chunk_keys(const AttentionArgs& args, Chunk& chunk, Panel& panel, const Shape& shape, int64_t kv_head) {
  KeyRange keys = chunk.lanes[0].some;
  for (int64_t i = 1; i < chunk.vectors; ++i) keys = join(keys, chunk.lanes[i].some);
  ViewWalk<typename Cache::Stored> walk(args, kv_head, keys.begin);
  int64_t block = round_down(keys.begin, kKeyBlock);
  while (block < keys.end) {
    for (int64_t i = 0; i < chunk.vectors; ++i) begin_span(chunk.lanes[i], shape.dim);
    const int64_t span_end = at_most(round_down(block, kKeySpan) + kKeySpan, keys.end);
    for (; block < span_end; block += kKeyBlock) {
      fill_panel<typename Cache::Widen>(walk.block(block), keys, block, shape.dim, panel);
      chunk_block<Sums, Vectors>(chunk, 0, panel, shape, block);
    }
    for (int64_t i = 0; i < chunk.vectors; ++i) merge_span(chunk.lanes[i], shape.dim);
  }
}

template <class Cache, Registers R>
inline AssayStatus attn_prefill(const AttentionArgs& args) {
  const AssayStatus status = check_attention(args);
  if (status != ASSAY_OK || args.n_heads == 0 || args.rows == 0) return status;
  const Shape shape = {args.head_dim, (args.head_dim + kLanes - 1) / kLanes, args.scale};
  const int64_t vectors = at_most(kMaxVectors, kChunkDims / args.head_dim);
  const int64_t group = args.n_heads / args.n_kv;
  Chunk chunk;
  Panel panel = {};
  for (int64_t kv_head = 0; kv_head < args.n_kv; ++kv_head) {
    const Queries queries = {args.rows * group, group, kv_head * group};
    for (int64_t first = 0; first < queries.count; first += vectors * kLanes) {
      chunk.vectors = at_most(vectors, (queries.count - first + kLanes - 1) / kLanes);
      load_chunk(args, queries, first, shape, chunk);
      chunk_keys<Cache, R.prefill_sums, R.prefill_vectors>(args, chunk, panel, shape, kv_head);
      for (int64_t i = 0; i < chunk.vectors; ++i) finish_queries(args, queries, first + i * kLanes, chunk.lanes[i]);
    }
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
