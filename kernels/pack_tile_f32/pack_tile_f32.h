/* pack_tile_f32

   Row-major to tile-major: dst[t, c, r] = src[32 t + r, c], and 0 where 32 t + r >= n.

   src  f32 [n, k], row stride src_stride >= k, in elements  in
   dst  f32 [ceil(n/32), k, 32], contiguous               out; no overlap with src
   A line of 32 elements holds one column of 32 rows, so that in a SIMD register a row is a lane. The lanes
   of rows past n in the last tile are written as +0.
   Alignment: that of the element. n = 0 or k = 0 writes nothing. Values are moved as bits.
   Exact: bits equal.
   Source: the layout of docs/formats.md, "tile-major".
*/
#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct PackTileF32Args {
  const float* src;
  float* dst;
  int64_t n;
  int64_t k;
  int64_t src_stride;
} PackTileF32Args;

ASSAY_C_END

#ifdef __cplusplus
namespace assay {

struct PackTileF32 {
  using Args = PackTileF32Args;
  static constexpr const char* name = "pack_tile_f32";
};

}  // namespace assay
#endif
