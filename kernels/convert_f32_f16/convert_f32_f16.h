/* convert_f32_f16

   dst[i] = src[i] as f16.

   src  f32 [n]  in
   dst  f16 [n]  out; no overlap with src
   Alignment: that of the element. n = 0 writes nothing.
   Round to nearest even; magnitudes from 65520 on become infinity; results below 2^-14 are denormals,
   kept, and those that round to zero keep the sign. NaN: sign and the top 10 payload bits kept, quiet bit set.
   Exact: bits equal.
   Source: IEEE 754-2019, 5.4.2; NaN as Intel's F16C (VCVTPS2PH).
*/
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct ConvertF32F16Args {
  const float* src;
  uint16_t* dst;
  int64_t n;
} ConvertF32F16Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct ConvertF32F16 {
  using Args = ConvertF32F16Args;
  static constexpr const char* name = "convert_f32_f16";
};

}  // namespace assay
#endif
