/* encode_q8_0

   The q8_0 blocks of n floats: d = amax / 127, code = round half away from zero of x * fl(1/d): trunc(p +
   copysign(0x1.fffffep-2, p)). For weight files; activations are quantize_q8_0's.
   d is stored as f16 (nearest even); codes follow from the f32 d. A reciprocal that is not finite counts as 0.

   src  f32 [n]       in
   dst  q8_0 [n / 32]  out; no overlap with src
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

typedef struct EncodeQ80Args {
  const float* src;
  BlockQ8_0* dst;
  int64_t n;
} EncodeQ80Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct EncodeQ80 {
  using Args = EncodeQ80Args;
  static constexpr const char* name = "encode_q8_0";
};

}  // namespace assay
#endif
