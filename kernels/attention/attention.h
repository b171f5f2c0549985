#pragma once

#include "kernels/kv_view.h"

ASSAY_C_BEGIN

/* Every attention's. */
typedef struct AttentionArgs {
  const float* q;
  const AssayKvSpan* spans;
  float* y;
  int64_t rows; /* query rows; decode takes 1 */
  int64_t n_heads;
  int64_t n_kv;
  int64_t head_dim;
  int64_t position; /* of the first row */
  int64_t window;   /* 0: none */
  int64_t span_count;
  int64_t q_row_stride; /* decode ignores it */
  int64_t q_head_stride;
  int64_t y_row_stride; /* decode ignores it */
  int64_t y_head_stride;
  float scale;
  int32_t causal; /* 0 or 1 */
} AttentionArgs;

ASSAY_C_END
