/* fma of sixteen lanes for a build that may not assume the instruction. Where the CPU has it, it is used: the C library's call gives the same
   bits, and is most of what a scalar kernel would then take. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "kernels/simd/base.h"

namespace assay {
namespace {

typedef float F32x4 __attribute__((vector_size(16)));
typedef uint32_t U32x4 __attribute__((vector_size(16)));

#if defined(__x86_64__) && !defined(__FMA__)
__attribute__((noinline, cold)) void fma_by_calls(float* a, const float* b, const float* c) {
  for (int i = 0; i < 16; ++i) a[i] = __builtin_fmaf(a[i], b[i], c[i]);
}

// a = a*b + c, one rounding each.
ASSAY_INLINE void fma_lanes(float* a, const float* b, const float* c) {
  if (!__builtin_cpu_supports("fma")) return fma_by_calls(a, b, c);
  for (int i = 0; i < 16; i += 4) {
    F32x4 product, factor, term;
    memcpy(&product, a + i, sizeof product);
    memcpy(&factor, b + i, sizeof factor);
    memcpy(&term, c + i, sizeof term);
    __asm__("vfmadd213ps %2, %1, %0" : "+x"(product) : "x"(factor), "x"(term));
    memcpy(a + i, &product, sizeof product);
  }
}
#else
ASSAY_INLINE void fma_lanes(float* a, const float* b, const float* c) {
  for (int i = 0; i < 16; ++i) a[i] = __builtin_fmaf(a[i], b[i], c[i]);
}
#endif

}  // namespace
}  // namespace assay
