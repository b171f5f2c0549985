/* decode_q5_1

   dst[i] = the value of element i: w = d q + m: the product is exact, the addition rounds once.

   src  q5_1 [n / 32]  in; blocks as kernels/formats/blocks.h
   dst  f32 [n]       out; no overlap with src
   n a multiple of 32, else ASSAY_BAD_SHAPE. Alignment: 2 bytes for blocks, 4 for f32. n = 0 writes nothing.
   A scale that is NaN or infinite is decoded by the arithmetic.
   Exact: bits equal (NaNs as 0x7fc00000).
   Source: docs/formats.md.
*/
#pragma once

#include "kernels/formats/blocks.h"

ASSAY_C_BEGIN

typedef struct DecodeQ51Args {
  const BlockQ5_1* src;
  float* dst;
  int64_t n;
} DecodeQ51Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct DecodeQ51 {
  using Args = DecodeQ51Args;
  static constexpr const char* name = "decode_q5_1";
};

}  // namespace assay
#endif
