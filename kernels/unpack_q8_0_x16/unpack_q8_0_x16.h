/* unpack_q8_0_x16

   The inverse of pack_q8_0_x16 (byte map: kernels/formats/packed.h).

   src  q8_0_x16 [ceil(n/16), k / 32], contiguous  in
   dst  q8_0 [n, k / 32], contiguous  out; no overlap with src
   Lanes of rows past n are not copied.
   k a multiple of 32, else ASSAY_BAD_SHAPE. Alignment: 2 bytes. n = 0 or k = 0 writes nothing. unpack gives back the
   bytes that pack took.
   Exact: bytes equal.
   Source: docs/formats.md.
*/
#pragma once

#include "kernels/formats/packed.h"

ASSAY_C_BEGIN

typedef struct UnpackQ80X16Args {
  const BlockQ8_0x16* src;
  BlockQ8_0* dst;
  int64_t n;
  int64_t k;
} UnpackQ80X16Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct UnpackQ80X16 {
  using Args = UnpackQ80X16Args;
  static constexpr const char* name = "unpack_q8_0_x16";
};

}  // namespace assay
#endif
