/* pack_q8_0_x16

   Sixteen rows interleaved, so that a lane of a register is a row (byte map: kernels/formats/packed.h).

   src  q8_0 [n, k / 32], contiguous  in
   dst  q8_0_x16 [ceil(n/16), k / 32], contiguous  out; no overlap with src
   The lanes of rows past n are written as 0.
   k a multiple of 32, else ASSAY_BAD_SHAPE. Alignment: 2 bytes. n = 0 or k = 0 writes nothing. unpack gives back the
   bytes that pack took.
   Exact: bytes equal.
   Source: docs/formats.md.
*/
#pragma once

#include "kernels/formats/packed.h"

ASSAY_C_BEGIN

typedef struct PackQ80X16Args {
  const BlockQ8_0* src;
  BlockQ8_0x16* dst;
  int64_t n;
  int64_t k;
} PackQ80X16Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct PackQ80X16 {
  using Args = PackQ80X16Args;
  static constexpr const char* name = "pack_q8_0_x16";
};

}  // namespace assay
#endif
