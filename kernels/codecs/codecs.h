#pragma once

#include "kernels/formats/blocks.h"

ASSAY_C_BEGIN

/* Encoders', decoders' and quantisers'. */
typedef struct CodecArgs {
  const void* src;
  void* dst;
  int64_t rows; /* a quantiser's; encode and decode take 1 */
  int64_t k;    /* numbers of a row */
  int64_t src_stride; /* of rows, in elements; encode and decode ignore it */
  int64_t dst_stride; /* of rows, in blocks; likewise */
} CodecArgs;

ASSAY_C_END
