/* Products with AVX-VNNI, in AVX2's two registers. avx2.h says what each name does. */
#pragma once

#define ASSAY_QUANTIZER_ISA avx2

#include "kernels/products/lanes_avx2.h"
#include "kernels/products/vnni256.h"
#include "kernels/simd/prefetch.h"

namespace assay {
namespace {

ASSAY_INLINE Words dpbusd(Words sum, Words codes, Words x) {
  return {dpbusd(sum.lo, codes.lo, x.lo), dpbusd(sum.hi, codes.hi, x.hi)};
}
template <class Lanes>
ASSAY_INLINE Lanes settled(Lanes a) {
  asm("" : "+x"(a.lo), "+x"(a.hi));
  return a;
}
ASSAY_INLINE Words signed_codes(Words w) {
  const __m256i top = _mm256_set1_epi8(-128);
  return {_mm256_xor_si256(w.lo, top), _mm256_xor_si256(w.hi, top)};
}

// As AVX2 has.
constexpr int kGemmTiles = 1;
constexpr int kGemmRows = 4;
constexpr int kRegisterRows = 6;
constexpr int kRegisterColumns = 1;
template <class Number>
inline constexpr Ahead kTunedAhead = {};

}  // namespace
}  // namespace assay

#include "kernels/products/vnni.h"

#include "kernels/products/vector.h"
