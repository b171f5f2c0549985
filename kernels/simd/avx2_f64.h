/* Eight f64 lanes in two AVX registers. After avx2.h; scalar_f64.h says what each name does. */
#pragma once

namespace assay {
namespace {

inline constexpr int64_t kLanes64 = 8;

struct F64x8 {
  __m256d lo;  // lanes 0..3
  __m256d hi;  // lanes 4..7
};

ASSAY_INLINE F64x8 broadcast64(double x) {
  return {_mm256_set1_pd(x), _mm256_set1_pd(x)};
}
ASSAY_INLINE F64x8 load64(const double* p) {
  return {_mm256_loadu_pd(p), _mm256_loadu_pd(p + 4)};
}
ASSAY_INLINE void store64(double* p, F64x8 a) {
  _mm256_storeu_pd(p, a.lo);
  _mm256_storeu_pd(p + 4, a.hi);
}

ASSAY_INLINE F64x8 add(F64x8 a, F64x8 b) {
  return {_mm256_add_pd(a.lo, b.lo), _mm256_add_pd(a.hi, b.hi)};
}
ASSAY_INLINE F64x8 sub(F64x8 a, F64x8 b) {
  return {_mm256_sub_pd(a.lo, b.lo), _mm256_sub_pd(a.hi, b.hi)};
}
ASSAY_INLINE F64x8 mul(F64x8 a, F64x8 b) {
  return {_mm256_mul_pd(a.lo, b.lo), _mm256_mul_pd(a.hi, b.hi)};
}
ASSAY_INLINE F64x8 div(F64x8 a, F64x8 b) {
  return {_mm256_div_pd(a.lo, b.lo), _mm256_div_pd(a.hi, b.hi)};
}
ASSAY_INLINE F64x8 fma(F64x8 a, F64x8 b, F64x8 c) {
  return {_mm256_fmadd_pd(a.lo, b.lo, c.lo), _mm256_fmadd_pd(a.hi, b.hi, c.hi)};
}
ASSAY_INLINE F64x8 fms(F64x8 a, F64x8 b, F64x8 c) {
  return {_mm256_fmsub_pd(a.lo, b.lo, c.lo), _mm256_fmsub_pd(a.hi, b.hi, c.hi)};
}
ASSAY_INLINE F64x8 rint(F64x8 a) {
  return {_mm256_round_pd(a.lo, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
          _mm256_round_pd(a.hi, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
ASSAY_INLINE F64x8 floor(F64x8 a) {
  return {_mm256_floor_pd(a.lo), _mm256_floor_pd(a.hi)};
}
ASSAY_INLINE F64x8 select_less(F64x8 a, F64x8 b, F64x8 x, F64x8 y) {
  return {_mm256_blendv_pd(y.lo, x.lo, _mm256_cmp_pd(a.lo, b.lo, _CMP_LT_OQ)),
          _mm256_blendv_pd(y.hi, x.hi, _mm256_cmp_pd(a.hi, b.hi, _CMP_LT_OQ))};
}

// Adding 1.5 * 2^52 leaves n in the low bits of the significand.
ASSAY_INLINE __m256d power_of_two(__m256d n) {
  const __m256i low = _mm256_castpd_si256(_mm256_add_pd(n, _mm256_set1_pd(0x1.8p52)));
  return _mm256_castsi256_pd(_mm256_add_epi64(_mm256_slli_epi64(low, 52), _mm256_set1_epi64x(0x3ff0000000000000)));
}
ASSAY_INLINE F64x8 power_of_two(F64x8 n) {
  return {power_of_two(n.lo), power_of_two(n.hi)};
}
ASSAY_INLINE F64x8 round_to_f32(F64x8 a) {
  return {_mm256_cvtps_pd(_mm256_cvtpd_ps(a.lo)), _mm256_cvtps_pd(_mm256_cvtpd_ps(a.hi))};
}
ASSAY_INLINE void store_f32(float* p, F64x8 a, int64_t n) {
  const __m256 v = _mm256_set_m128(_mm256_cvtpd_ps(a.hi), _mm256_cvtpd_ps(a.lo));
  _mm256_maskstore_ps(p, lanes_below(n, 0), v);
}

}  // namespace
}  // namespace assay
