/* Eight f64 lanes in one AVX-512 register. After avx512.h; scalar_f64.h says what each name does. */
#pragma once

namespace assay {
namespace {

inline constexpr int64_t kLanes64 = 8;

struct F64x8 {
  __m512d v;
};

ASSAY_INLINE F64x8 broadcast64(double x) {
  return {_mm512_set1_pd(x)};
}
ASSAY_INLINE F64x8 load64(const double* p) {
  return {_mm512_loadu_pd(p)};
}
ASSAY_INLINE void store64(double* p, F64x8 a) {
  _mm512_storeu_pd(p, a.v);
}

ASSAY_INLINE F64x8 add(F64x8 a, F64x8 b) {
  return {_mm512_add_pd(a.v, b.v)};
}
ASSAY_INLINE F64x8 sub(F64x8 a, F64x8 b) {
  return {_mm512_sub_pd(a.v, b.v)};
}
ASSAY_INLINE F64x8 mul(F64x8 a, F64x8 b) {
  return {_mm512_mul_pd(a.v, b.v)};
}
ASSAY_INLINE F64x8 div(F64x8 a, F64x8 b) {
  return {_mm512_div_pd(a.v, b.v)};
}
ASSAY_INLINE F64x8 fma(F64x8 a, F64x8 b, F64x8 c) {
  return {_mm512_fmadd_pd(a.v, b.v, c.v)};
}
ASSAY_INLINE F64x8 fms(F64x8 a, F64x8 b, F64x8 c) {
  return {_mm512_fmsub_pd(a.v, b.v, c.v)};
}
ASSAY_INLINE F64x8 rint(F64x8 a) {
  return {_mm512_roundscale_pd(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
ASSAY_INLINE F64x8 floor(F64x8 a) {
  return {_mm512_roundscale_pd(a.v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)};
}
ASSAY_INLINE F64x8 select_less(F64x8 a, F64x8 b, F64x8 x, F64x8 y) {
  return {_mm512_mask_blend_pd(_mm512_cmp_pd_mask(a.v, b.v, _CMP_LT_OQ), y.v, x.v)};
}
ASSAY_INLINE F64x8 power_of_two(F64x8 n) {
  return {_mm512_scalef_pd(_mm512_set1_pd(1.0), n.v)};
}
ASSAY_INLINE F64x8 round_to_f32(F64x8 a) {
  return {_mm512_cvtps_pd(_mm512_cvtpd_ps(a.v))};
}
ASSAY_INLINE void store_f32(float* p, F64x8 a, int64_t n) {
  _mm256_mask_storeu_ps(p, static_cast<__mmask8>((1u << n) - 1u), _mm512_cvtpd_ps(a.v));
}

}  // namespace
}  // namespace assay
