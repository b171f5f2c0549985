/* quantize_q8_k

   Activations to q8_k, block by block: scan ascending and keep the signed value max whose magnitude is strictly the
   largest (the first wins a tie); iscale = -127 / max; code = nearest even of fl(iscale * x); d = fl(1 / iscale);
   bsums[j] = sum of codes 16 j .. 16 j + 15. max = 0, or an infinite iscale: d = +0, codes and bsums 0.

   src  f32 [rows, k], row stride src_stride >= k, in elements             in
   dst  q8_k [rows, k / 256], row stride dst_stride >= k / 256, in blocks  out; no overlap; between the row's
        blocks and the stride nothing is written
   k a multiple of 256, else ASSAY_BAD_SHAPE. NaN or infinity in src: ASSAY_NOT_FINITE, and nothing is written.
   Alignment: 4 bytes for f32 and q8_k.
   rows = 0 or k = 0 writes nothing.
   Exact: bytes equal.
   Source: the run-time quantisers of llama.cpp's x86 kernels, as bytes in the goldens.
*/
#pragma once

#include "kernels/formats/blocks.h"

ASSAY_C_BEGIN

typedef struct QuantizeQ8KArgs {
  const float* src;
  BlockQ8_K* dst;
  int64_t rows;
  int64_t k;
  int64_t src_stride;
  int64_t dst_stride; /* in blocks */
} QuantizeQ8KArgs;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct QuantizeQ8K {
  using Args = QuantizeQ8KArgs;
  static constexpr const char* name = "quantize_q8_k";
};

}  // namespace assay
#endif
