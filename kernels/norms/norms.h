#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct RmsNormArgs {
  const float* x;
  const float* w;
  float* y;
  int64_t rows;
  int64_t n;
  int64_t x_stride;
  int64_t y_stride;
  float eps;
} RmsNormArgs;

typedef struct SoftmaxArgs {
  const float* x;
  float* y;
  int64_t rows;
  int64_t n;
  int64_t x_stride;
  int64_t y_stride;
} SoftmaxArgs;

ASSAY_C_END
