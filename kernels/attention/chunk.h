/* Prefill's loops around a block of keys: chunks of queries, spans, blocks. After an ISA's header, with transpose16. */
#pragma once

#include "kernels/attention/prefill.h"

namespace assay {
namespace {

// The queries of one kv head, counted through: query e is row e / group, head first_head + e % group.
struct Queries {
  int64_t count;
  int64_t group;
  int64_t first_head;
};

// The state of a chunk of queries.
struct Chunk {
  QueryLanes lanes[kMaxVectors];
  int64_t vectors;
  alignas(64) float q[kLanes * (kChunkDims + kMaxVectors * kLanes)];
  alignas(64) float o[kLanes * kChunkDims];
  alignas(64) float merged_o[kLanes * kChunkDims];
};

ASSAY_INLINE KeyRange join(KeyRange a, KeyRange b) {
  return {least(a.begin, b.begin), largest(a.end, b.end)};
}

template <class Args>
inline void load_queries(const Args& args, const Queries& queries, int64_t first, const Shape& shape, QueryLanes& lanes) {
  const float* q[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) {
    const int64_t e = least(first + i, queries.count - 1);
    const int64_t row = e / queries.group;
    q[i] = args.q + row * args.q_row_stride + (queries.first_head + e % queries.group) * args.q_head_stride;
    const KeyRange keys = unmasked_keys(args, args.position + row);
    lanes.keys[i] = keys;
    lanes.some = i == 0 ? keys : join(lanes.some, keys);
    lanes.all = i == 0 ? keys : KeyRange{largest(lanes.all.begin, keys.begin), least(lanes.all.end, keys.end)};
  }
  for (int64_t step = 0; step < shape.steps; ++step) {
    const int64_t d = step * kLanes;
    F32x16 rows[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) rows[i] = load_tail(q[i] + d, least(kLanes, shape.dim - d));
    transpose16(rows);
    for (int64_t residue = 0; residue < kLanes; ++residue) {
      store(lanes.q + (residue * shape.steps + step) * kLanes, rows[residue]);
    }
  }
}

// y = o / l, or +0 where no key was unmasked.
template <class Args>
inline void finish_queries(const Args& args, const Queries& queries, int64_t first, const QueryLanes& lanes) {
  const Mask16 seen = differ(lanes.merged_l, zero());
  for (int64_t d = 0; d < args.head_dim; d += kLanes) {
    const int64_t n = least(kLanes, args.head_dim - d);
    F32x16 rows[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) {
      rows[i] = i < n ? select(seen, div(load(lanes.merged_o + (d + i) * kLanes), lanes.merged_l), zero()) : zero();
    }
    transpose16(rows);
    for (int64_t i = 0; i < least(kLanes, queries.count - first); ++i) {
      const int64_t head = queries.first_head + (first + i) % queries.group;
      store_tail(args.y + (first + i) / queries.group * args.y_row_stride + head * args.y_head_stride + d, rows[i], n);
    }
  }
}

// All vectors of the chunk that see a key of the block take it in, Vectors at a time.
template <int Broadcasts, int Vectors>
inline void chunk_block(Chunk& chunk, const Panel& panel, const Shape& shape, int64_t block) {
  for (int64_t i = 0; i < chunk.vectors;) {
    QueryLanes* lanes = chunk.lanes + i;
    const int64_t left = chunk.vectors - i;
    KeyRange some = lanes[0].some;
    if (left >= Vectors) some = join(some, lanes[Vectors - 1].some);
    const bool sees = some.begin < block + kKeyBlock && block < some.end;
    if (left < Vectors) {
      if (sees) prefill_block<Broadcasts, 1>(lanes, panel, shape, block);
      i += 1;
    } else {
      if (sees) prefill_block<Broadcasts, Vectors>(lanes, panel, shape, block);
      i += Vectors;
    }
  }
}

template <class Element, class Widen, int Broadcasts, int Vectors, class Args>
inline void chunk_keys(const Args& args, Chunk& chunk, Panel& panel, const Shape& shape, int64_t kv_head) {
  KeyRange keys = chunk.lanes[0].some;
  for (int64_t i = 1; i < chunk.vectors; ++i) keys = join(keys, chunk.lanes[i].some);
  ViewWalk<Element> walk(args, kv_head, keys.begin);
  int64_t block = round_down(keys.begin, kKeyBlock);
  while (block < keys.end) {
    for (int64_t i = 0; i < chunk.vectors; ++i) begin_span(chunk.lanes[i], shape.dim);
    const int64_t span_end = least(round_down(block, kKeySpan) + kKeySpan, keys.end);
    for (; block < span_end; block += kKeyBlock) {
      fill_panel<Widen>(walk.block(block), keys, block, shape.dim, panel);
      chunk_block<Broadcasts, Vectors>(chunk, panel, shape, block);
    }
    for (int64_t i = 0; i < chunk.vectors; ++i) merge_span(chunk.lanes[i], shape.dim);
  }
}

// Broadcasts by Vectors vectors of sums fit into the registers.
template <class Element, class Widen, int Broadcasts, int Vectors, class Args>
inline AssayStatus attn_prefill(const Args& args) {
  const AssayStatus status = check_attention(args, args.rows);
  if (status != ASSAY_OK || args.n_heads == 0 || args.rows == 0) return status;
  const Shape shape = {args.head_dim, (args.head_dim + kLanes - 1) / kLanes, args.scale};
  const int64_t vectors = largest(1, least(kMaxVectors, kChunkDims / args.head_dim));
  Chunk chunk;
  Panel panel = {};
  const int64_t group = args.n_heads / args.n_kv;
  for (int64_t kv_head = 0; kv_head < args.n_kv; ++kv_head) {
    const Queries queries = {args.rows * group, group, kv_head * group};
    for (int64_t first = 0; first < queries.count; first += vectors * kLanes) {
      chunk.vectors = least(vectors, (queries.count - first + kLanes - 1) / kLanes);
      for (int64_t i = 0; i < chunk.vectors; ++i) {
        QueryLanes& lanes = chunk.lanes[i];
        lanes.q = chunk.q + i * shape.steps * kLanes * kLanes;
        lanes.o = chunk.o + i * shape.dim * kLanes;
        lanes.merged_o = chunk.merged_o + i * shape.dim * kLanes;
        lanes.merged_l = zero();
        load_queries(args, queries, first + i * kLanes, shape, lanes);
      }
      chunk_keys<Element, Widen, Broadcasts, Vectors>(args, chunk, panel, shape, kv_head);
      for (int64_t i = 0; i < chunk.vectors; ++i) finish_queries(args, queries, first + i * kLanes, chunk.lanes[i]);
    }
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
