/* attn_prefill_f16

   Attention of many query rows, row i at absolute position `position` + i. Head h reads kv head h * n_kv / n_heads:
   y[h] = sum_j softmax_j(scale q[h] . k_j) v_j over the unmasked keys j.

   q      f32 [rows, n_heads, head_dim], strides q_row_stride, q_head_stride >= head_dim, in elements  in
   spans  [span_count] AssayKvSpan (kernels/kv_view.h), keys and values f16, read exactly  in
   y      f32 [rows, n_heads, head_dim], strides y_row_stride, y_head_stride >= head_dim, in elements  out; no overlap; between
          head_dim and the stride nothing is written
   Unmasked for the query at position p: with causal, the positions j <= p, and with window > 0 also j > p - window;
   without causal, all positions of the view (window must be 0, else ASSAY_BAD_PARAMETER). Positions outside the view:
   those at or past its end are masked; one below its beginning that is not masked: ASSAY_OUT_OF_RANGE.
   n_kv = 0 with n_heads > 0, n_heads no multiple of n_kv, head_dim < 1 or > 512, position < 0, a span that breaks the
   rules of kernels/kv_view.h: ASSAY_BAD_SHAPE. scale must be finite, window >= 0, else ASSAY_BAD_PARAMETER. Refused:
   nothing is written. n_heads = 0 or rows = 0 writes nothing; an empty view gives +0.
   Alignment: 4 bytes for f32, 2 for f16. Threads: the caller may split kv heads with their query heads and rows.

   Canonical order: a row has the bits of attn_decode_f16 at its position.
   Bound: as attn_decode_f16.
   Source: Vaswani et al., "Attention Is All You Need", 2017; online softmax: Milakov and Gimelshein, 2018; Dao et al., 2022.
*/
#pragma once

#include "kernels/kv_view.h"

ASSAY_C_BEGIN

typedef struct AttnPrefillF16Args {
  const float* q;
  const AssayKvSpan* spans;
  float* y;
  int64_t rows;
  int64_t n_heads;
  int64_t n_kv;
  int64_t head_dim;
  int64_t position;
  int64_t window; /* 0: none */
  int64_t span_count;
  int64_t q_row_stride;
  int64_t q_head_stride;
  int64_t y_row_stride;
  int64_t y_head_stride;
  float scale;
  int32_t causal; /* 0 or 1 */
} AttnPrefillF16Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct AttnPrefillF16 {
  using Args = AttnPrefillF16Args;
  static constexpr const char* name = "attn_prefill_f16";
};

}  // namespace assay
#endif
