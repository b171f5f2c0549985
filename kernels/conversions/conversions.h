/* Conversions: dst[i] = src[i] in another type.

   src  [n]  in
   dst  [n]  out; no overlap with src
   Alignment: that of the element. n = 0 writes nothing; n past kernels/sizes.h: ASSAY_BAD_SHAPE. Exact: bits equal.

   op                from  to    rounding                                   NaN
   convert_f32_f16   f32   f16   nearest even; magnitudes from 65520 on     sign and the top 10 payload bits kept, quiet bit set
                                 become infinity; results below 2^-14 are
                                 denormals, kept, and those that round to
                                 zero keep the sign
   convert_f16_f32   f16   f32   none: every finite half is a float,        sign and payload kept, quiet bit set
                                 denormals included
   convert_f32_bf16  f32   bf16  nearest even; overflow to infinity;        sign and the top 7 payload bits kept, quiet bit set
                                 denormals kept (so not VCVTNEPS2BF16,
                                 which flushes them)
   convert_bf16_f32  bf16  f32   none: a shift by 16 bits                   as it is, payload and signalling ones included

   Source: IEEE 754-2019, 5.4.2; NaN of f16 as Intel's F16C (VCVTPS2PH, VCVTPH2PS); bf16 is the upper half of a binary32.
*/
#pragma once

#include "kernels/sizes.h"

ASSAY_C_BEGIN

typedef struct ConvertArgs {
  const void* src;
  void* dst;
  int64_t n;
} ConvertArgs;

ASSAY_C_END

ASSAY_SIZES_BEGIN

ASSAY_SIZES(ConvertArgs, assay_convert_sizes) {
  return assay_size(a->n);
}

ASSAY_SIZES_END
