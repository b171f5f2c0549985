/* decode_q5_k

   dst[i] = the value of element i: w = (d sc) q - (dmin m): the products are exact, the subtraction rounds once.

   src  q5_k [n / 256]  in; blocks as kernels/formats/blocks.h
   dst  f32 [n]       out; no overlap with src
   n a multiple of 256, else ASSAY_BAD_SHAPE. Alignment: 2 bytes for blocks, 4 for f32. n = 0 writes nothing.
   A scale that is NaN or infinite is decoded by the arithmetic.
   Exact: bits equal (NaNs as 0x7fc00000).
   Source: docs/formats.md.
*/
#pragma once

#include "kernels/formats/blocks.h"

ASSAY_C_BEGIN

typedef struct DecodeQ5KArgs {
  const BlockQ5_K* src;
  float* dst;
  int64_t n;
} DecodeQ5KArgs;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct DecodeQ5K {
  using Args = DecodeQ5KArgs;
  static constexpr const char* name = "decode_q5_k";
};

}  // namespace assay
#endif
