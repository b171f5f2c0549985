/* Attention: of one query row a head (decode), of many (prefill)

   Query row i is at absolute position `position` + i. Head h reads kv head h * n_kv / n_heads:
   y[i, h] = sum_j softmax_j(scale q[i, h] . k_j) v_j over the unmasked keys j.

   op                rows  keys and values
   attn_decode_f32   1     f32
   attn_decode_f16   1     f16, read exactly
   attn_prefill_f32  any   f32
   attn_prefill_f16  any   f16, read exactly

   q      f32 [rows, n_heads, head_dim], strides q_row_stride, q_head_stride >= head_dim, in elements  in
   spans  [span_count] AssayKvSpan (kernels/kv_view.h), keys and values of the op's type  in
   y      f32 [rows, n_heads, head_dim], strides y_row_stride, y_head_stride >= head_dim, in elements  out; no overlap; between
          head_dim and the stride nothing is written
   attn_decode takes rows = 1, anything else is ASSAY_BAD_SHAPE, and ignores the row strides.
   Unmasked for the query at position p: with causal, the positions j <= p, and with window > 0 also j > p - window;
   without causal, all positions of the view (window must be 0, else ASSAY_BAD_PARAMETER). Positions outside the view:
   those at or past its end are masked; one below its beginning that is not masked: ASSAY_OUT_OF_RANGE.
   n_kv = 0 with n_heads > 0, n_heads no multiple of n_kv, head_dim < 1 or > 512, position < 0 or past 2^63 with rows, a span that breaks the
   rules of kernels/kv_view.h: ASSAY_BAD_SHAPE. scale must be finite, window >= 0, else ASSAY_BAD_PARAMETER. Refused:
   nothing is written. n_heads = 0 or rows = 0 (prefill) writes nothing; an empty view gives +0. Sizes past those of kernels/sizes.h: ASSAY_BAD_SHAPE.
   Alignment: 4 bytes for f32, 2 for f16. Threads: the caller may split kv heads with their query heads, and rows.

   Canonical order: a row of prefill has the bits of decode at its position. Absolute positions in blocks of 16, in spans of 1024
   that are always separate.
   Score of key j: s_j = scale * dot16(q, k_j) (kernels/simd: 16 chains of fma and a tree), rounded after the dot. A
   masked key takes no part: K and V are not read, there is no fma, its term in the tree is +0. A score of -inf counts as
   masked, but its K was read.
   Block: bm = the largest unmasked score; none: the block is skipped. If bm > m (first -inf): c = exp(m - bm), l = l c,
   o = o c, m = bm. p_j = exp(s_j - m); o[d] = fma(p_j, v_j[d], o[d]), j ascending, also where p_j = 0; l = l + tree16(p).
   Span: positions 1024 s .. 1024 s + 1023, begun with m = -inf, l = o = +0; one without an unmasked key is skipped, the
   first other is taken as it is, then left to right, the running result as 1: M = max(m1, m2), c1 = exp(m1 - M),
   c2 = exp(m2 - M), l = fma(c2, l2, c1 l1), o = fma(c2, o2, c1 o1). y = o / l, a true division.
   exp is the op exp's canonical one. No unmasked key: +0. An unmasked NaN or +inf score makes the head's outputs NaN.
   Bound: docs/numerics.md, "attention"; g(n) terms of the score, the exponentials and the accumulation, per output.
   Source: Vaswani et al., "Attention Is All You Need", 2017; online softmax: Milakov and Gimelshein, 2018; Dao et al., 2022.
*/
#pragma once

#include "kernels/kv_view.h"
#include "kernels/sizes.h"

ASSAY_C_BEGIN

typedef struct AttentionArgs {
  const float* q;
  const AssayKvSpan* spans;
  float* y;
  int64_t rows;
  int64_t n_heads;
  int64_t n_kv;
  int64_t head_dim;
  int64_t position; /* of the first row */
  int64_t window;   /* 0: none */
  int64_t span_count;
  int64_t q_row_stride;
  int64_t q_head_stride;
  int64_t y_row_stride;
  int64_t y_head_stride;
  float scale;
  int32_t causal; /* 0 or 1 */
} AttentionArgs;

ASSAY_C_END

ASSAY_SIZES_BEGIN

/* It reads the spans, not what they point to. */
ASSAY_SIZES(AttentionArgs, assay_attention_sizes) {
  if (!assay_volume(a->rows, a->n_heads, a->head_dim) || !assay_size(a->n_kv) || !assay_size(a->span_count) ||
      !assay_area(a->rows, a->q_row_stride) || !assay_area(a->n_heads, a->q_head_stride) ||
      !assay_area(a->rows, a->y_row_stride) || !assay_area(a->n_heads, a->y_head_stride)) {
    return 0;
  }
  for (int64_t i = 0; i < a->span_count; ++i) {
    const AssayKvSpan* s = &a->spans[i];
    if (!assay_volume(a->n_kv, s->count, a->head_dim) || !assay_area(a->n_kv, s->k_head_stride) ||
        !assay_area(s->count, s->k_row_stride) || !assay_area(a->n_kv, s->v_head_stride) ||
        !assay_area(s->count, s->v_row_stride)) {
      return 0;
    }
  }
  return 1;
}

ASSAY_SIZES_END
