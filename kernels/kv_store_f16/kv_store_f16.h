/* kv_store_f16

   Rows of new keys (or values) into a head-major cache: dst[h, position + t, d] = src[t, h, d], and +0 for d from
   head_dim to head_dim_padded - 1. Values are rounded to f16, nearest even; overflow gives infinity, a NaN stays one (convert_f32_f16).

   src  f32 [tokens, n_kv, head_dim], strides src_row_stride, src_head_stride >= head_dim, in elements  in
   dst  f16 [n_kv, capacity, head_dim_padded], contiguous  out; no overlap; only rows position .. position + tokens - 1
        of each head are written
   position: the slot of the first token. position < 0 or position + tokens > capacity: ASSAY_OUT_OF_RANGE. head_dim >
   head_dim_padded or a negative size: ASSAY_BAD_SHAPE. Either way nothing is written.
   Alignment: 4 bytes for f32, 2 for f16. An empty size writes nothing.
   Threads: the caller may split tokens and heads.
   Exact: bits equal.
   Source: the definition of a head-major cache.
*/
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct KvStoreF16Args {
  const float* src;
  uint16_t* dst;
  int64_t tokens;
  int64_t n_kv;
  int64_t head_dim;
  int64_t head_dim_padded;
  int64_t capacity;
  int64_t position;
  int64_t src_row_stride;
  int64_t src_head_stride;
} KvStoreF16Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct KvStoreF16 {
  using Args = KvStoreF16Args;
  static constexpr const char* name = "kv_store_f16";
};

}  // namespace assay
#endif
