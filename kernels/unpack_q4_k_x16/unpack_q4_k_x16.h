/* unpack_q4_k_x16

   The inverse of pack_q4_k_x16 (byte map: kernels/formats/packed.h).

   src  q4_k_x16 [ceil(n/16), k / 256], contiguous  in
   dst  q4_k [n, k / 256], contiguous  out; no overlap with src
   Lanes of rows past n are not copied.
   k a multiple of 256, else ASSAY_BAD_SHAPE. Alignment: 2 bytes. n = 0 or k = 0 writes nothing. unpack gives back the
   bytes that pack took.
   Exact: bytes equal.
   Source: docs/formats.md.
*/
#pragma once

#include "kernels/formats/packed.h"

ASSAY_C_BEGIN

typedef struct UnpackQ4KX16Args {
  const BlockQ4_Kx16* src;
  BlockQ4_K* dst;
  int64_t n;
  int64_t k;
} UnpackQ4KX16Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct UnpackQ4KX16 {
  using Args = UnpackQ4KX16Args;
  static constexpr const char* name = "unpack_q4_k_x16";
};

}  // namespace assay
#endif
