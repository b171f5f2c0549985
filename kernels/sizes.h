/* Which sizes a call may have. C11 and C++20.

   Every size, count of rows and stride of an argument struct lies in 0 .. 2^50, also one that the op at hand does not use; and so do
   the number of a tensor's elements (blocks count as the numbers they hold) and each of its sizes times its stride. Anything else is
   ASSAY_BAD_SHAPE, before a tensor is touched and before any other refusal.

   2^50 floats fill 52 bits of physical address, which is all that x86-64 has: no memory is refused. And in bytes of the largest element,
   a packed block of 3,360, an offset made of several such terms still counts in 63 bits: past this check no kernel's arithmetic on sizes
   can overflow.

   A family's header has a function for each of its structs, which our kernels ask first (kernels/unit.h). A plugin's may do likewise:

     if (!assay_rms_norm_sizes(args)) return ASSAY_BAD_SHAPE; */
#pragma once

#include "kernels/abi.h"

/* C++ has them in the namespace, with a linkage of their own unit. */
#ifdef __cplusplus
#define ASSAY_SIZES_BEGIN namespace assay {
#define ASSAY_SIZES_END }
#define ASSAY_SIZES(Args, name)                    \
  static inline int name(const Args* a);           \
  static inline bool sizes_fit(const Args& args) { \
    return name(&args) != 0;                       \
  }                                                \
  static inline int name(const Args* a)
#else
#define ASSAY_SIZES_BEGIN
#define ASSAY_SIZES_END
#define ASSAY_SIZES(Args, name) static inline int name(const Args* a)
#endif

ASSAY_SIZES_BEGIN

static inline int assay_size(int64_t n) {
  return n >= 0 && n <= INT64_C(1) << 50;
}

/* Two sizes and their product: rows of n, or rows so far apart. */
static inline int assay_area(int64_t rows, int64_t n) {
  int64_t product = 0;
  return assay_size(rows) && assay_size(n) && !__builtin_mul_overflow(rows, n, &product) && assay_size(product);
}

/* Three sizes and their product. */
static inline int assay_volume(int64_t a, int64_t b, int64_t c) {
  const int empty = a == 0 || b == 0 || c == 0;
  return assay_size(a) && assay_size(b) && assay_size(c) && (empty || (assay_area(a, b) && assay_area(a * b, c)));
}

ASSAY_SIZES_END
