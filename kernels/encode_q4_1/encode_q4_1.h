/* encode_q4_1

   The q4_1 blocks of n floats: min and max by strict comparison from element 0, d = fl(fl(max - min) / 15), m = min,
   code = min(15, trunc(fl(fl(fl(x - min) * fl(1/d)) + 0.5))).
   d is stored as f16 (nearest even); codes follow from the f32 d. A reciprocal that is not finite counts as 0.

   src  f32 [n]       in
   dst  q4_1 [n / 32]  out; no overlap with src
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

typedef struct EncodeQ41Args {
  const float* src;
  BlockQ4_1* dst;
  int64_t n;
} EncodeQ41Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct EncodeQ41 {
  using Args = EncodeQ41Args;
  static constexpr const char* name = "encode_q4_1";
};

}  // namespace assay
#endif
