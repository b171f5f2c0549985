/* convert_f16_f32

   dst[i] = src[i] as f32.

   src  f16 [n]  in
   dst  f32 [n]  out; no overlap with src
   Alignment: that of the element. n = 0 writes nothing.
   Every finite half is a float, denormals included. NaN: sign and payload kept, quiet bit set.
   Exact: bits equal.
   Source: IEEE 754-2019, 5.4.2; NaN as Intel's F16C (VCVTPH2PS).
*/
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct ConvertF16F32Args {
  const uint16_t* src;
  float* dst;
  int64_t n;
} ConvertF16F32Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct ConvertF16F32 {
  using Args = ConvertF16F32Args;
  static constexpr const char* name = "convert_f16_f32";
};

}  // namespace assay
#endif
