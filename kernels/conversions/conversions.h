#pragma once

#include "kernels/abi.h"

ASSAY_C_BEGIN

typedef struct ConvertArgs {
  const void* src;
  void* dst;
  int64_t n;
} ConvertArgs;

ASSAY_C_END
