/* encode_q5_k

   q5_k blocks of n floats, scales and codes found by a search of our own for a small weighted squared error sum of
   w_i (x_i - decoded_i)^2, w_i = rms(sub-block of 32) + |x_i|.

   src  f32 [n]        in
   dst  q5_k [n / 256]  out; no overlap with src
   n a multiple of 256, else ASSAY_BAD_SHAPE.
   NaN or infinity in src, or a scale beyond f16's range: ASSAY_NOT_FINITE, and nothing is written. Alignment: 4 bytes
   for f32, 2 for blocks.
   n = 0 writes nothing.
   Contract: the weighted squared error of a set of rows, in fp64, is at most 1.001 times that of ggml's blocks of the
   same rows; every variant writes the same bytes.
   Source: docs/formats.md.
*/
#pragma once

#include "kernels/formats/blocks.h"

ASSAY_C_BEGIN

typedef struct EncodeQ5KArgs {
  const float* src;
  BlockQ5_K* dst;
  int64_t n;
} EncodeQ5KArgs;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct EncodeQ5K {
  using Args = EncodeQ5KArgs;
  static constexpr const char* name = "encode_q5_k";
};

}  // namespace assay
#endif
