/* Products with AMX's tiles; what is around them is AVX-512 VNNI's. */
#pragma once

#include "kernels/products/avx512vnni.h"

#include "kernels/products/tile_config.h"

namespace assay {
namespace {

// The CPU's tiles. Assembly: the intrinsics of GCC 12 do not say that a load reads memory, so that what was stored there may be left out, and
// take no number that a template makes.
struct TileRegisters {
  ASSAY_INLINE void configure(const TileConfig& config) { asm volatile("ldtilecfg %0" : : "m"(config)); }
  ASSAY_INLINE void release() { asm volatile("tilerelease"); }
  template <int T>
  ASSAY_INLINE void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(T));
  }
  template <int T>
  ASSAY_INLINE void load(const void* rows, int64_t stride) {
    asm volatile("tileloadd (%0,%1), %%tmm%c2" : : "r"(rows), "r"(stride), "i"(T) : "memory");
  }
  template <int T>
  ASSAY_INLINE void store(void* rows, int64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1)" : : "r"(rows), "r"(stride), "i"(T) : "memory");
  }
  template <int Sum, int A, int B>
  ASSAY_INLINE void dot_signed() {
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sum), "i"(A), "i"(B));
  }
  template <int Sum, int A, int B>
  ASSAY_INLINE void dot_unsigned() {
    asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sum), "i"(A), "i"(B));
  }
};

}  // namespace
}  // namespace assay

#include "kernels/products/tiled_gemm.h"
