/* unpack_q6_k_x16

   The inverse of pack_q6_k_x16 (byte map: kernels/formats/packed.h).

   src  q6_k_x16 [ceil(n/16), k / 256], contiguous  in
   dst  q6_k [n, k / 256], contiguous  out; no overlap with src
   Lanes of rows past n are not copied.
   k a multiple of 256, else ASSAY_BAD_SHAPE. Alignment: 2 bytes. n = 0 or k = 0 writes nothing. unpack gives back the
   bytes that pack took.
   Exact: bytes equal.
   Source: docs/formats.md.
*/
#pragma once

#include "kernels/formats/packed.h"

ASSAY_C_BEGIN

typedef struct UnpackQ6KX16Args {
  const BlockQ6_Kx16* src;
  BlockQ6_K* dst;
  int64_t n;
  int64_t k;
} UnpackQ6KX16Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct UnpackQ6KX16 {
  using Args = UnpackQ6KX16Args;
  static constexpr const char* name = "unpack_q6_k_x16";
};

}  // namespace assay
#endif
