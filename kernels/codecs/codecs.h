/* Blocks: floats to blocks (encode_*, quantize_*) and back (decode_*). kernels/formats/blocks.h says what a block holds; a block has
   32 elements, one of q4_k, q5_k, q6_k and q8_k 256.

   encode_*    src  f32 [k]              in    dst  blocks [k / block's elements]  out; weights, for files
   decode_*    src  blocks [k / block's elements]  in    dst  f32 [k]              out
   quantize_*  src  f32 [rows, k], row stride src_stride >= k, in elements  in; activations
               dst  blocks [rows, k / block's elements], row stride dst_stride >= that, in blocks  out; between the row's blocks and
               the stride nothing is written
   No overlap. encode and decode take rows = 1, anything else is ASSAY_BAD_SHAPE, and ignore the strides. k a multiple of a block's
   elements, else ASSAY_BAD_SHAPE. rows = 0 or k = 0 writes nothing. Alignment: 4 bytes for f32 and q8_k, 2 for other blocks.
   encode, quantize: NaN or infinity in src, or a scale or minimum beyond f16's range (q8_k has none in f16): ASSAY_NOT_FINITE, and
   nothing is written. decode: a scale that is NaN or infinite is decoded by the arithmetic. Sizes past those of kernels/sizes.h: ASSAY_BAD_SHAPE.

   encode_*: of q4_0 to q8_0 d is stored as f16 (nearest even); codes follow from the f32 d; a reciprocal that is not finite counts as
   0; products and sums are rounded one by one, no fma. Exact: bytes equal. Source: ggml's reference quantiser, as bytes in the
   goldens; docs/formats.md.
     q4_0  max is the signed value of the first largest magnitude, d = max / -8, code = min(15, trunc(x * fl(1/d) + 8.5)): the
           product is rounded, then the sum; an all-zero block is d = -0, codes 8
     q4_1  min and max by strict comparison from element 0, d = fl(fl(max - min) / 15), m = min,
           code = min(15, trunc(fl(fl(fl(x - min) * fl(1/d)) + 0.5)))
     q5_0  as q4_0 with d = max / -16, 16.5 and 31; an all-zero block is d = -0, codes 16
     q5_1  as q4_1 with 31 in place of 15
     q8_0  d = amax / 127, code = round half away from zero of x * fl(1/d): trunc(p + copysign(0x1.fffffep-2, p)). For weight
           files; activations are quantize_q8_0's
     q4_k, q5_k, q6_k  scales and codes found by a search of our own for a small weighted squared error sum of
           w_i (x_i - decoded_i)^2; of q4_k and q5_k w_i = rms(sub-block of 32) + |x_i|, of q6_k w_i = x_i^2. Contract: the
           weighted squared error of a set of rows, in fp64, is at most 1.001 times that of ggml's blocks of the same rows; every
           variant writes the same bytes. Source: docs/formats.md

   decode_*: dst[i] = the value of element i. Exact: bits equal (NaNs as 0x7fc00000). Source: docs/formats.md.
     q4_0        w = d (q - 8)                exact in f32
     q5_0        w = d (q - 16)               exact in f32
     q8_0        w = d q                      exact in f32
     q4_1, q5_1  w = d q + m                  the product is exact, the addition rounds once
     q4_k, q5_k  w = (d sc) q - (dmin m)      the products are exact, the subtraction rounds once
     q6_k        w = d sc (q - 32)            exact in f32
     q8_k        x = d q                      the product rounds once

   quantize_*: block by block. Exact: bytes equal. Source: the run-time quantisers of llama.cpp's x86 kernels, as bytes in the goldens.
     q8_0  amax = largest magnitude; d = f16 of fl(amax / 127); code = nearest even of fl(x * fl(127 / amax)). amax = 0, or an
           infinite 127 / amax: codes 0
     q8_k  scan ascending and keep the signed value max whose magnitude is strictly the largest (the first wins a tie);
           iscale = -127 / max; code = nearest even of fl(iscale * x); d = fl(1 / iscale); bsums[j] = sum of codes
           16 j .. 16 j + 15. max = 0, or an infinite iscale: d = +0, codes and bsums 0
*/
#pragma once

#include "kernels/formats/blocks.h"
#include "kernels/sizes.h"

ASSAY_C_BEGIN

typedef struct CodecArgs {
  const void* src;
  void* dst;
  int64_t rows;
  int64_t k;          /* numbers of a row */
  int64_t src_stride; /* of rows, in elements */
  int64_t dst_stride; /* of rows, in blocks */
} CodecArgs;

ASSAY_C_END

ASSAY_SIZES_BEGIN

ASSAY_SIZES(CodecArgs, assay_codec_sizes) {
  return assay_area(a->rows, a->k) && assay_area(a->rows, a->src_stride) && assay_area(a->rows, a->dst_stride);
}

ASSAY_SIZES_END
