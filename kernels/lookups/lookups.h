/* Look-ups: a table's rows by number, and the number of the largest. Sizes past those of kernels/sizes.h: ASSAY_BAD_SHAPE. */
#pragma once

#include "kernels/sizes.h"

ASSAY_C_BEGIN

/* embed_f32, embed_f16, embed_bf16

   y[j, :] = table[ids[j], :]: of f32 copied as bits, of f16 and bf16 widened as convert_f16_f32 and convert_bf16_f32 do.

   table  the op's type [vocab, n], row-major, contiguous    in; only the rows asked for are read
   ids    i32 [rows]                                         in; 0 <= id < vocab for all, else ASSAY_OUT_OF_RANGE
   y      f32 [rows, n], row stride y_stride >= n, in elements  out; no overlap; between n and the stride nothing is written
   Alignment: that of the element. rows = 0 or n = 0 writes nothing.
   Exact: bits equal.
   Source: the definition of a look-up. */
typedef struct EmbedArgs {
  const void* table;
  const int32_t* ids;
  float* y;
  int64_t vocab;
  int64_t rows;
  int64_t n;
  int64_t y_stride;
} EmbedArgs;

/* argmax

   index[0] = the first i with x[i] = max over x.

   x      f32 [n]  in; -0 equals +0; infinities are values like others
   index  i32 [1]  out
   n = 0, or n >= 2^31, is ASSAY_BAD_SHAPE; a NaN anywhere is ASSAY_NOT_FINITE.
   Alignment: 4 bytes.
   Exact: bits equal.
   Source: the definition; ties go to the first, as NumPy's and PyTorch's do. */
typedef struct ArgmaxArgs {
  const float* x;
  int32_t* index;
  int64_t n;
} ArgmaxArgs;

ASSAY_C_END

ASSAY_SIZES_BEGIN

ASSAY_SIZES(EmbedArgs, assay_embed_sizes) {
  return assay_area(a->vocab, a->n) && assay_area(a->rows, a->n) && assay_area(a->rows, a->y_stride);
}
ASSAY_SIZES(ArgmaxArgs, assay_argmax_sizes) {
  return assay_size(a->n);
}

ASSAY_SIZES_END
