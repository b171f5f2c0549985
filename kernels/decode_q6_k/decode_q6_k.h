/* decode_q6_k

   dst[i] = the value of element i: w = d sc (q - 32), exact in f32.

   src  q6_k [n / 256]  in; blocks as kernels/formats/blocks.h
   dst  f32 [n]       out; no overlap with src
   n a multiple of 256, else ASSAY_BAD_SHAPE. Alignment: 2 bytes for blocks, 4 for f32. n = 0 writes nothing.
   A scale that is NaN or infinite is decoded by the arithmetic.
   Exact: bits equal (NaNs as 0x7fc00000).
   Source: docs/formats.md.
*/
#pragma once

#include "kernels/formats/blocks.h"

ASSAY_C_BEGIN

typedef struct DecodeQ6KArgs {
  const BlockQ6_K* src;
  float* dst;
  int64_t n;
} DecodeQ6KArgs;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct DecodeQ6K {
  using Args = DecodeQ6KArgs;
  static constexpr const char* name = "decode_q6_k";
};

}  // namespace assay
#endif
