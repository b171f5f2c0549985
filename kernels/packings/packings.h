/* Packings: rows of weights so interleaved that a lane of a register is a row, and back. A row of kernels/packings/ops.inc is an op:

     layout  plain rows                                       packed, contiguous
     tile    f32 or f16 [n, k], a row stride >= k apart       [ceil(n/32), k, 32]: packed[t, c, r] = plain[32 t + r, c], so that a
             (any 16-bit words: bf16 just as well)            line of 32 numbers holds one column of 32 rows
     x16     q8_0, q4_k or q6_k blocks [n, k / elements],     [ceil(n/16), k / elements]; byte map: kernels/formats/packed.h
             contiguous

   pack    src is plain, dst packed; the lanes of rows past n are written as 0
   unpack  the inverse: it gives back the bytes that pack took. Lanes of rows past n are not copied; between k and the stride nothing
           is written
   x16 refuses k that is not a multiple of a block's elements (q8_0: 32; else 256), all refuse sizes past those of kernels/sizes.h: ASSAY_BAD_SHAPE.
   No overlap of src and dst. Alignment: that of the number; 2 bytes for blocks. n = 0 or k = 0 writes nothing. Values are moved
   as bits.
   Exact: bytes equal.
   Source: docs/formats.md ("tile-major"). */
#pragma once

#include "kernels/formats/packed.h"
#include "kernels/sizes.h"

ASSAY_C_BEGIN

typedef struct PackArgs {
  const void* src;
  void* dst;
  int64_t n;          /* rows */
  int64_t k;          /* columns */
  int64_t src_stride; /* of the rows that pack_tile_* reads, in numbers; the others ignore it */
  int64_t dst_stride; /* of the rows that unpack_tile_* writes, in numbers; the others ignore it */
} PackArgs;

ASSAY_C_END

ASSAY_SIZES_BEGIN

ASSAY_SIZES(PackArgs, assay_pack_sizes) {
  return assay_area(a->n, a->k) && assay_area(a->n, a->src_stride) && assay_area(a->n, a->dst_stride);
}

ASSAY_SIZES_END
