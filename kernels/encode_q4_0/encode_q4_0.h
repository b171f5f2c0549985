/* encode_q4_0

   The q4_0 blocks of n floats: max is the signed value of the first largest magnitude, d = max / -8, code = min(15,
   trunc(x * fl(1/d) + 8.5)): the product is rounded, then the sum, no fma; an all-zero block is d = -0, codes 8.
   d is stored as f16 (nearest even); codes follow from the f32 d. A reciprocal that is not finite counts as 0.

   src  f32 [n]       in
   dst  q4_0 [n / 32]  out; no overlap with src
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

typedef struct EncodeQ40Args {
  const float* src;
  BlockQ4_0* dst;
  int64_t n;
} EncodeQ40Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct EncodeQ40 {
  using Args = EncodeQ40Args;
  static constexpr const char* name = "encode_q4_0";
};

}  // namespace assay
#endif
