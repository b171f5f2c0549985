#pragma once

#include "kernels/formats/packed.h"

ASSAY_C_BEGIN

/* Every packing's and its inverse's. */
typedef struct PackArgs {
  const void* src;
  void* dst;
  int64_t n; /* rows */
  int64_t k; /* columns */
  int64_t src_stride; /* of the rows that pack_tile_* reads, in elements; the others ignore it */
  int64_t dst_stride; /* of the rows that unpack_tile_* writes, in elements; the others ignore it */
} PackArgs;

ASSAY_C_END
