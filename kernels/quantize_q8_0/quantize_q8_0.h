/* quantize_q8_0

   Activations to q8_0, block by block: amax = largest magnitude; d = f16 of fl(amax / 127); code = nearest even of
   fl(x * fl(127 / amax)). amax = 0, or an infinite 127 / amax: codes 0.

   src  f32 [rows, k], row stride src_stride >= k, in elements             in
   dst  q8_0 [rows, k / 32], row stride dst_stride >= k / 32, in blocks  out; no overlap; between the row's
        blocks and the stride nothing is written
   k a multiple of 32, else ASSAY_BAD_SHAPE.
   NaN or infinity in src, or a scale beyond f16's range: ASSAY_NOT_FINITE, and nothing is written. Alignment: 4 bytes
   for f32, 2 for q8_0.
   rows = 0 or k = 0 writes nothing.
   Exact: bytes equal.
   Source: the run-time quantisers of llama.cpp's x86 kernels, as bytes in the goldens.
*/
#pragma once

#include "kernels/formats/blocks.h"

ASSAY_C_BEGIN

typedef struct QuantizeQ80Args {
  const float* src;
  BlockQ8_0* dst;
  int64_t rows;
  int64_t k;
  int64_t src_stride;
  int64_t dst_stride; /* in blocks */
} QuantizeQ80Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct QuantizeQ80 {
  using Args = QuantizeQ80Args;
  static constexpr const char* name = "quantize_q8_0";
};

}  // namespace assay
#endif
