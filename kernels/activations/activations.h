#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct ExpArgs {
  const float* x;
  float* y;
  int64_t n;
} ExpArgs;

typedef struct AddArgs {
  const float* a;
  const float* b;
  float* y;
  int64_t n;
} AddArgs;

typedef struct SwigluArgs {
  const float* gate;
  const float* up;
  float* y;
  int64_t rows;
  int64_t n;
  int64_t gate_stride;
  int64_t up_stride;
  int64_t y_stride;
} SwigluArgs;

ASSAY_C_END
