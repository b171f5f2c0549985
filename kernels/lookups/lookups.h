#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

/* Of embed_*. */
typedef struct EmbedArgs {
  const void* table;
  const int32_t* ids;
  float* y;
  int64_t vocab;
  int64_t rows;
  int64_t n;
  int64_t y_stride;
} EmbedArgs;

typedef struct ArgmaxArgs {
  const float* x;
  int32_t* index;
  int64_t n;
} ArgmaxArgs;

ASSAY_C_END
