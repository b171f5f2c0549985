/* pack_q6_k_x16

   Sixteen rows interleaved, so that a lane of a register is a row (byte map: kernels/formats/packed.h).

   src  q6_k [n, k / 256], contiguous  in
   dst  q6_k_x16 [ceil(n/16), k / 256], contiguous  out; no overlap with src
   The lanes of rows past n are written as 0.
   k a multiple of 256, else ASSAY_BAD_SHAPE. Alignment: 2 bytes. n = 0 or k = 0 writes nothing. unpack gives back the
   bytes that pack took.
   Exact: bytes equal.
   Source: docs/formats.md.
*/
#pragma once

#include "kernels/formats/packed.h"

ASSAY_C_BEGIN

typedef struct PackQ6KX16Args {
  const BlockQ6_K* src;
  BlockQ6_Kx16* dst;
  int64_t n;
  int64_t k;
} PackQ6KX16Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct PackQ6KX16 {
  using Args = PackQ6KX16Args;
  static constexpr const char* name = "pack_q6_k_x16";
};

}  // namespace assay
#endif
