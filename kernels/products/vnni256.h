/* VPDPBUSD on 256 bits: sum + four products of bytes in each 32-bit lane, exact; codes without sign, x with. AVX-512 VNNI has it under
   the name and encoding of its own, AVX-VNNI under another. */
#pragma once

#include "kernels/simd/base.h"

#include <immintrin.h>

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#define ASSAY_VNNI256

namespace assay {
namespace {

ASSAY_INLINE __m256i dpbusd(__m256i sum, __m256i codes, __m256i x) {
#ifdef __AVX512VNNI__
  return _mm256_dpbusd_epi32(sum, codes, x);
#else
  return _mm256_dpbusd_avx_epi32(sum, codes, x);
#endif
}

}  // namespace
}  // namespace assay

#endif
