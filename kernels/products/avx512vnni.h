/* Products with AVX-512 VNNI. avx2.h says what each name does. */
#pragma once

#define ASSAY_QUANTIZER_ISA avx512

#include "kernels/products/lanes_avx512.h"

namespace assay {
namespace {

ASSAY_INLINE Words pair_dot(Words sum, Words a, Words b) {
  return {_mm512_dpwssd_epi32(sum.v, a.v, b.v)};
}
ASSAY_INLINE Words dpbusd(Words sum, Words codes, Words x) {
  return {_mm512_dpbusd_epi32(sum.v, codes.v, x.v)};
}
template <class Lanes>
ASSAY_INLINE Lanes settled(Lanes a) {
  asm("" : "+v"(a.v));
  return a;
}
ASSAY_INLINE Words signed_codes(Words w) {
  return {_mm512_xor_si512(w.v, _mm512_set1_epi8(-128))};
}

constexpr int kGemmTiles = 2;
constexpr int kGemmRows = 4;

}  // namespace
}  // namespace assay

#include "kernels/products/vnni.h"

#include "kernels/products/vector.h"
