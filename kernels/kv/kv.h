/* A cache of keys and values as plain arrays: rows in, moved to another capacity, copied elsewhere; and the logits' row.
   kv_*_f32 keeps f32, kv_*_f16 f16. Alignment: that of the element. Exact: bits equal.
   What every op refuses, nothing is written. Sizes past those of kernels/sizes.h: ASSAY_BAD_SHAPE. */
#pragma once

#include "kernels/sizes.h"

ASSAY_C_BEGIN

/* kv_store_f32, kv_store_f16

   Rows of new keys (or values) into a head-major cache: dst[h, position + t, d] = src[t, h, d], and +0 for d from
   head_dim to head_dim_padded - 1. To f32 a copy; to f16 values are rounded, nearest even; overflow gives infinity, a NaN stays one
   (convert_f32_f16).

   src  f32 [tokens, n_kv, head_dim], strides src_row_stride, src_head_stride >= head_dim, in elements  in
   dst  the op's type [n_kv, capacity, head_dim_padded], contiguous  out; no overlap; only rows position .. position + tokens - 1
        of each head are written
   position: the slot of the first token. position < 0 or position + tokens > capacity: ASSAY_OUT_OF_RANGE. head_dim >
   head_dim_padded: ASSAY_BAD_SHAPE.
   An empty size writes nothing. Threads: the caller may split tokens and heads.
   Source: the definition of a head-major cache. */
typedef struct KvStoreArgs {
  const float* src;
  void* dst;
  int64_t tokens;
  int64_t n_kv;
  int64_t head_dim;
  int64_t head_dim_padded;
  int64_t capacity;
  int64_t position;
  int64_t src_row_stride;
  int64_t src_head_stride;
} KvStoreArgs;

/* kv_copy_f32, kv_copy_f16

   Rows of a cache into another whose heads and rows may lie otherwise:
   dst[h, p, d] = src[h, p, d] for h < n_kv, p < positions, d < head_dim.

   src  the op's type [n_kv, positions, head_dim], strides src_head_stride, src_row_stride >= head_dim, in elements  in
   dst  the same type [n_kv, positions, head_dim], strides dst_head_stride, dst_row_stride >= head_dim, in elements  out; no
        overlap; what lies between is neither read nor written
   A row stride below head_dim: ASSAY_BAD_SHAPE.
   An empty size writes nothing. Threads: the caller may split heads and positions.
   Source: the definition of a copy. */
typedef struct KvCopyArgs {
  const void* src;
  void* dst;
  int64_t n_kv;
  int64_t positions;
  int64_t head_dim;
  int64_t src_head_stride;
  int64_t src_row_stride;
  int64_t dst_head_stride;
  int64_t dst_row_stride;
} KvCopyArgs;

/* kv_repack_f32, kv_repack_f16

   A head-major cache for another capacity, in place: the first `positions` rows of each head move from
   [n_kv, capacity_src, row] to [n_kv, capacity_dst, row]; the other rows of the new layout become +0.

   data  the op's type [n_kv, capacity_src, row] on entry, [n_kv, capacity_dst, row] on return, contiguous; the buffer holds
         the larger of the two  in, out. Elements past the new layout are not written.
   row: head_dim_padded. positions < 0 or above either capacity: ASSAY_OUT_OF_RANGE.
   n_kv = 0 or row = 0 writes nothing. Capacities may be equal: then only rows past positions are written.
   Source: the definition of a head-major cache. */
typedef struct KvRepackArgs {
  void* data;
  int64_t n_kv;
  int64_t row;
  int64_t positions;
  int64_t capacity_src;
  int64_t capacity_dst;
} KvRepackArgs;

/* logits_copy_to_position

   One row of logits into row `position` of a buffer of all positions: dst[position, i] = src[i].

   src  f32 [vocab]  in
   dst  f32 [positions, vocab], row stride dst_stride >= vocab, in elements  out; no overlap; only that row's vocab
        elements are written
   position < 0 or >= positions: ASSAY_OUT_OF_RANGE; dst_stride < vocab: ASSAY_BAD_SHAPE.
   vocab = 0 writes nothing. Threads: the caller may split vocab.
   Source: the definition of a copy. */
typedef struct LogitsCopyToPositionArgs {
  const float* src;
  float* dst;
  int64_t vocab;
  int64_t positions;
  int64_t position;
  int64_t dst_stride;
} LogitsCopyToPositionArgs;

ASSAY_C_END

ASSAY_SIZES_BEGIN

ASSAY_SIZES(KvStoreArgs, assay_kv_store_sizes) {
  return assay_volume(a->tokens, a->n_kv, a->head_dim) && assay_volume(a->n_kv, a->capacity, a->head_dim_padded) &&
         assay_area(a->tokens, a->src_row_stride) && assay_area(a->n_kv, a->src_head_stride);
}
ASSAY_SIZES(KvCopyArgs, assay_kv_copy_sizes) {
  return assay_volume(a->n_kv, a->positions, a->head_dim) && assay_area(a->n_kv, a->src_head_stride) &&
         assay_area(a->positions, a->src_row_stride) && assay_area(a->n_kv, a->dst_head_stride) &&
         assay_area(a->positions, a->dst_row_stride);
}
ASSAY_SIZES(KvRepackArgs, assay_kv_repack_sizes) {
  return assay_volume(a->n_kv, a->capacity_src, a->row) && assay_volume(a->n_kv, a->capacity_dst, a->row);
}
ASSAY_SIZES(LogitsCopyToPositionArgs, assay_logits_copy_to_position_sizes) {
  return assay_area(a->positions, a->vocab) && assay_area(a->positions, a->dst_stride);
}

ASSAY_SIZES_END
