/* logits_copy_to_position

   One row of logits into row `position` of a buffer of all positions: dst[position, i] = src[i].

   src  f32 [vocab]  in
   dst  f32 [positions, vocab], row stride dst_stride >= vocab, in elements  out; no overlap; only that row's vocab
        elements are written
   position < 0 or >= positions: ASSAY_OUT_OF_RANGE; a negative size or dst_stride < vocab: ASSAY_BAD_SHAPE; either way
   nothing is written.
   Alignment: 4 bytes. vocab = 0 writes nothing. Threads: the caller may split vocab.
   Exact: bits equal.
   Source: the definition of a copy.
*/
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct LogitsCopyToPositionArgs {
  const float* src;
  float* dst;
  int64_t vocab;
  int64_t positions;
  int64_t position;
  int64_t dst_stride;
} LogitsCopyToPositionArgs;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct LogitsCopyToPosition {
  using Args = LogitsCopyToPositionArgs;
  static constexpr const char* name = "logits_copy_to_position";
};

}  // namespace assay
#endif
