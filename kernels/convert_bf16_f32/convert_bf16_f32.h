/* convert_bf16_f32

   dst[i] = src[i] as f32.

   src  bf16 [n]  in
   dst  f32 [n]  out; no overlap with src
   Alignment: that of the element. n = 0 writes nothing.
   A shift by 16 bits: every value, NaN payloads and signalling NaNs included, as it is.
   Exact: bits equal.
   Source: bf16 is the upper half of an IEEE 754 binary32.
*/
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct ConvertBf16F32Args {
  const uint16_t* src;
  float* dst;
  int64_t n;
} ConvertBf16F32Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct ConvertBf16F32 {
  using Args = ConvertBf16F32Args;
  static constexpr const char* name = "convert_bf16_f32";
};

}  // namespace assay
#endif
