/* kv_copy_f16

   Rows of a cache into another whose heads and rows may lie otherwise:
   dst[h, p, d] = src[h, p, d] for h < n_kv, p < positions, d < head_dim.

   src  f16 [n_kv, positions, head_dim], strides src_head_stride, src_row_stride >= head_dim, in elements  in
   dst  f16 [n_kv, positions, head_dim], strides dst_head_stride, dst_row_stride >= head_dim, in elements  out; no
        overlap; what lies between is neither read nor written
   A negative size or a row stride below head_dim: ASSAY_BAD_SHAPE, and nothing is written.
   Alignment: 2 bytes. An empty size writes nothing. Threads: the caller may split heads and positions.
   Exact: bits equal.
   Source: the definition of a copy.
*/
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct KvCopyF16Args {
  const uint16_t* src;
  uint16_t* dst;
  int64_t n_kv;
  int64_t positions;
  int64_t head_dim;
  int64_t src_head_stride;
  int64_t src_row_stride;
  int64_t dst_head_stride;
  int64_t dst_row_stride;
} KvCopyF16Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct KvCopyF16 {
  using Args = KvCopyF16Args;
  static constexpr const char* name = "kv_copy_f16";
};

}  // namespace assay
#endif
