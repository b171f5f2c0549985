/* Sixteen floats four at a time, in the compilers' own vectors: lane by lane GCC makes a branch of every choice. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "kernels/simd/base.h"

namespace assay {
namespace {

typedef float F32x4 __attribute__((vector_size(16)));
typedef uint32_t U32x4 __attribute__((vector_size(16)));

ASSAY_INLINE F32x4 load_four(const float* p) {
  F32x4 v;
  memcpy(&v, p, sizeof v);
  return v;
}

// a = step(a, b ...).
template <class Step, class... More>
ASSAY_INLINE void by_fours(Step step, float* a, const More*... b) {
  for (int i = 0; i < 16; i += 4) {
    const F32x4 result = step(load_four(a + i), load_four(b + i)...);
    memcpy(a + i, &result, sizeof result);
  }
}

// a = a*b + c, one rounding each. A build that may not assume the instruction uses it where the CPU has it: the C library's call gives the
// same bits, and is most of what a scalar kernel would then take.
#if defined(__x86_64__) && !defined(__FMA__)
__attribute__((noinline, cold)) void fma_by_calls(float* a, const float* b, const float* c) {
  for (int i = 0; i < 16; ++i) a[i] = __builtin_fmaf(a[i], b[i], c[i]);
}

ASSAY_INLINE F32x4 fma_instruction(F32x4 a, F32x4 b, F32x4 c) {
  __asm__("vfmadd213ps %2, %1, %0" : "+x"(a) : "x"(b), "x"(c));
  return a;
}

ASSAY_INLINE void fma_lanes(float* a, const float* b, const float* c) {
  if (!__builtin_cpu_supports("fma")) return fma_by_calls(a, b, c);
  by_fours([](F32x4 x, F32x4 y, F32x4 z) { return fma_instruction(x, y, z); }, a, b, c);
}
#else
ASSAY_INLINE void fma_lanes(float* a, const float* b, const float* c) {
  for (int i = 0; i < 16; ++i) a[i] = __builtin_fmaf(a[i], b[i], c[i]);
}
#endif

}  // namespace
}  // namespace assay
