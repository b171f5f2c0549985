#pragma once

#include "kernels/formats/packed.h"

ASSAY_C_BEGIN

/* Columns of a row of linear: its blocks fit a kernel's stack. */
enum { ASSAY_LINEAR_MOST_COLUMNS = 65536 };

/* Every product's. What `w` and `x` hold stands in the table above, a row an op. */
typedef struct ProductArgs {
  const void* w;
  const void* x;
  float* y;
  int64_t m; /* rows of x and y; a gemv takes 1 */
  int64_t n;
  int64_t k;
  int64_t x_stride; /* of x's rows, in its elements: numbers or blocks; a gemv ignores it */
  int64_t y_stride; /* likewise of y's rows */
} ProductArgs;

ASSAY_C_END
