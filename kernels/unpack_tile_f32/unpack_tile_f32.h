/* unpack_tile_f32

   Tile-major to row-major: dst[i, c] = src[i / 32, c, i % 32], the inverse of pack_tile_f32.

   src  f32 [ceil(n/32), k, 32], contiguous               in; lanes of rows past n are not copied
   dst  f32 [n, k], row stride dst_stride >= k, in elements  out; no overlap with src; between k and the stride nothing is written
   Values are moved as bits.
   Alignment: that of the element. n = 0 or k = 0 writes nothing.
   Exact: bits equal.
   Source: the layout of docs/formats.md, "tile-major".
*/
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct UnpackTileF32Args {
  const float* src;
  float* dst;
  int64_t n;
  int64_t k;
  int64_t dst_stride;
} UnpackTileF32Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct UnpackTileF32 {
  using Args = UnpackTileF32Args;
  static constexpr const char* name = "unpack_tile_f32";
};

}  // namespace assay
#endif
