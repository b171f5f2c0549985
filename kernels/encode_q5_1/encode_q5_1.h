/* encode_q5_1

   The q5_1 blocks of n floats: as q4_1 with 31 in place of 15.
   d is stored as f16 (nearest even); codes follow from the f32 d. A reciprocal that is not finite counts as 0.

   src  f32 [n]       in
   dst  q5_1 [n / 32]  out; no overlap with src
   n a multiple of 32, else ASSAY_BAD_SHAPE.
   NaN or infinity in src, or a scale or minimum beyond f16's range: ASSAY_NOT_FINITE, and nothing is written.
   Alignment: 4 bytes for f32, 2 for blocks.
   n = 0 writes nothing.
   Exact: bytes equal.
   Source: ggml's reference quantiser, as bytes in the goldens; docs/formats.md.
*/
#pragma once

#include "kernels/formats/blocks.h"

ASSAY_C_BEGIN

typedef struct EncodeQ51Args {
  const float* src;
  BlockQ5_1* dst;
  int64_t n;
} EncodeQ51Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct EncodeQ51 {
  using Args = EncodeQ51Args;
  static constexpr const char* name = "encode_q5_1";
};

}  // namespace assay
#endif
