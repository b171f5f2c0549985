/* decode_q8_k

   dst[i] = the value of element i: x = d q: the product rounds once.

   src  q8_k [n / 256]  in; blocks as kernels/formats/blocks.h
   dst  f32 [n]       out; no overlap with src
   n a multiple of 256, else ASSAY_BAD_SHAPE. Alignment: 4 bytes for q8_k, 4 for f32. n = 0 writes nothing.
   A scale that is NaN or infinite is decoded by the arithmetic.
   Exact: bits equal (NaNs as 0x7fc00000).
   Source: docs/formats.md.
*/
#pragma once

#include "kernels/formats/blocks.h"

ASSAY_C_BEGIN

typedef struct DecodeQ8KArgs {
  const BlockQ8_K* src;
  float* dst;
  int64_t n;
} DecodeQ8KArgs;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct DecodeQ8K {
  using Args = DecodeQ8KArgs;
  static constexpr const char* name = "decode_q8_k";
};

}  // namespace assay
#endif
