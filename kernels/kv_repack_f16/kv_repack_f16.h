/* kv_repack_f16

   A head-major cache for another capacity, in place: the first `positions` rows of each head move from
   [n_kv, capacity_src, row] to [n_kv, capacity_dst, row]; the other rows of the new layout become +0.

   data  f16 [n_kv, capacity_src, row] on entry, [n_kv, capacity_dst, row] on return, contiguous; the buffer holds
         the larger of the two  in, out. Elements past the new layout are not written.
   row: head_dim_padded. positions < 0 or above either capacity: ASSAY_OUT_OF_RANGE; a negative size: ASSAY_BAD_SHAPE;
   either way nothing is written.
   Alignment: 2 bytes. n_kv = 0 or row = 0 writes nothing. Capacities may be equal: then only rows past positions are written.
   Exact: bits equal (a copy).
   Source: the definition of a head-major cache.
*/
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct KvRepackF16Args {
  uint16_t* data;
  int64_t n_kv;
  int64_t row;
  int64_t positions;
  int64_t capacity_src;
  int64_t capacity_dst;
} KvRepackF16Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct KvRepackF16 {
  using Args = KvRepackF16Args;
  static constexpr const char* name = "kv_repack_f16";
};

}  // namespace assay
#endif
