/* convert_f32_bf16

   dst[i] = src[i] as bf16.

   src  f32 [n]  in
   dst  bf16 [n]  out; no overlap with src
   Alignment: that of the element. n = 0 writes nothing.
   Round to nearest even; overflow to infinity; denormals kept (so not VCVTNEPS2BF16, which flushes them).
   NaN: sign and the top 7 payload bits kept, quiet bit set.
   Exact: bits equal.
   Source: bf16 is the upper half of an IEEE 754 binary32.
*/
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct ConvertF32Bf16Args {
  const float* src;
  uint16_t* dst;
  int64_t n;
} ConvertF32Bf16Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct ConvertF32Bf16 {
  using Args = ConvertF32Bf16Args;
  static constexpr const char* name = "convert_f32_bf16";
};

}  // namespace assay
#endif
