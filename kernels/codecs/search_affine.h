/* The search behind encode_q4_k and encode_q5_k: w = d sc_j q - dmin m_j with q in 0..top, sc and m in 0..63, eight sub-blocks of
   32. After one of the bytes_*.h headers.

   1. Each sub-block alone: real a, b >= 0 with x ~ a q - b by alternating least squares from sixteen starts.
   2. d and dmin: quotients of the largest a and b by 63, 62, .. as halves, so that the sub-block that matters most is hit
      exactly; each pair is judged with scales and minima rounded to whole numbers.
   3. The best pairs are polished: given d and dmin, whole sc and m near the optimum; given these and the codes, d and dmin by
      least squares; and again.
   A minimum is never negative, so -x is encoded too, and the better of the two taken: its d and dmin change sign. */
#pragma once

#include "kernels/codecs/search.h"

namespace assay {
namespace {

inline constexpr int kSubs = 8;
inline constexpr int kSub = 32;

// One super-block. Weights are w_i = rms(sub-block) + |x_i|.
struct AffineTask {
  float top;
  float x[ASSAY_QK_K];
  float w[ASSAY_QK_K];
  float sum_w[kSubs];
  float sum_wx[kSubs];
};

struct AffineFit {
  float a;
  float b;
  float sum_wq;  // with the codes that belong to a and b
};

struct AffineScales {
  float error;
  float d;
  float dmin;
  int side;  // 0: scales of x, 1: of -x
  float sc[kSubs];
  float m[kSubs];
};

ASSAY_INLINE void weigh(AffineTask& task) {
  for (int j = 0; j < kSubs; ++j) {
    const F32x16 x0 = load(task.x + j * kSub);
    const F32x16 x1 = load(task.x + j * kSub + 16);
    const F32x16 rms = broadcast(__builtin_sqrtf(tree_sum(fma(x1, x1, mul(x0, x0))) / 32.0f));
    const F32x16 w0 = add(rms, magnitude(x0));
    const F32x16 w1 = add(rms, magnitude(x1));
    store(task.w + j * kSub, w0);
    store(task.w + j * kSub + 16, w1);
    const float sum = tree_sum(add(w0, w1));
    task.sum_w[j] = sum > 0.0f ? sum : 1.0f;  // a divisor; without weights nothing depends on it
    task.sum_wx[j] = tree_sum(fma(w1, x1, mul(w0, x0)));
  }
}

// The code of x for x ~ a q - b, given x + b and 1 / a.
ASSAY_INLINE F32x16 affine_code(F32x16 shifted, F32x16 inverse, F32x16 top) {
  return min(max(rint(mul(shifted, inverse)), zero()), top);
}
// Where a = 0 every code is as good as another.
ASSAY_INLINE F32x16 inverse_of(F32x16 a) {
  return div(broadcast(1.0f), max(a, broadcast(0x1p-60f)));
}

// Weighted squared error of sub-block j under sixteen pairs.
ASSAY_INLINE F32x16 affine_errors(const AffineTask& task, int j, F32x16 a, F32x16 b) {
  const float* x = task.x + j * kSub;
  const float* w = task.w + j * kSub;
  const F32x16 inverse = inverse_of(a);
  const F32x16 top = broadcast(task.top);
  const F32x16 minus_a = neg(a);
  F32x16 even = zero();
  F32x16 odd = zero();
  for (int i = 0; i < kSub; i += 2) {
    const F32x16 s0 = add(broadcast(x[i]), b);
    const F32x16 s1 = add(broadcast(x[i + 1]), b);
    const F32x16 e0 = fma(minus_a, affine_code(s0, inverse, top), s0);
    const F32x16 e1 = fma(minus_a, affine_code(s1, inverse, top), s1);
    even = fma(mul(broadcast(w[i]), e0), e0, even);
    odd = fma(mul(broadcast(w[i + 1]), e1), e1, odd);
  }
  return add(even, odd);
}

struct AffineSums {
  F32x16 wq;
  F32x16 wqq;
  F32x16 wqx;
};
ASSAY_INLINE AffineSums affine_sums(const AffineTask& task, int j, F32x16 a, F32x16 b) {
  const float* x = task.x + j * kSub;
  const float* w = task.w + j * kSub;
  const F32x16 inverse = inverse_of(a);
  const F32x16 top = broadcast(task.top);
  AffineSums sums = {zero(), zero(), zero()};
  for (int i = 0; i < kSub; ++i) {
    const F32x16 xi = broadcast(x[i]);
    const F32x16 q = affine_code(add(xi, b), inverse, top);
    const F32x16 wq = mul(broadcast(w[i]), q);
    sums.wq = add(sums.wq, wq);
    sums.wqq = fma(wq, q, sums.wqq);
    sums.wqx = fma(wq, xi, sums.wqx);
  }
  return sums;
}

// The best real a and b >= 0 for given codes: b from the two normal equations, cut off at 0, then a for that b.
ASSAY_INLINE void solve_affine(const AffineTask& task, int j, const AffineSums& s, F32x16& a, F32x16& b) {
  const F32x16 w = broadcast(task.sum_w[j]);
  const F32x16 wx = broadcast(task.sum_wx[j]);
  const F32x16 tiny = broadcast(0x1p-120f);
  const F32x16 product = mul(w, s.wqq);
  const F32x16 determinant = max(max(fma(neg(s.wq), s.wq, product), mul(product, broadcast(0x1p-20f))), tiny);
  b = max(div(fms(s.wq, s.wqx, mul(wx, s.wqq)), determinant), zero());
  a = max(div(fma(b, s.wq, s.wqx), max(s.wqq, tiny)), zero());
}

inline AffineFit fit_sub_block(const AffineTask& task, int j) {
  const float* x = task.x + j * kSub;
  const Ends ends = ends_of_32(x);
  const float low = ends.low < 0.0f ? ends.low : 0.0f;
  // Codes of the ends apart by top - 1.25 .. top + 2.5: fewer leave room, more clip.
  const F32x16 steps = add(mul(lane_numbers(), broadcast(0.25f)), broadcast(task.top - 1.25f));
  F32x16 a = div(broadcast(ends.high - low), steps);
  F32x16 b = broadcast(-low);
  for (int round = 0; round < 3; ++round) solve_affine(task, j, affine_sums(task, j, a, b), a, b);
  const F32x16 sum_wq = affine_sums(task, j, a, b).wq;
  const int best = least_lane(affine_errors(task, j, a, b));
  return {lane(a, best), lane(b, best), lane(sum_wq, best)};
}

// A sub-block's whole scale and minimum, sixteen candidates for d and one for dmin: scale from the fit, then the minimum that
// goes with that scale.
ASSAY_INLINE F32x16 rounded_errors(const AffineTask& task, int j, const AffineFit& fit, F32x16 d, F32x16 dmin) {
  const F32x16 sc = min(rint(div(broadcast(fit.a), d)), broadcast(63.0f));
  const F32x16 a = mul(d, sc);
  const F32x16 b = div(fms(a, broadcast(fit.sum_wq), broadcast(task.sum_wx[j])), broadcast(task.sum_w[j]));
  const F32x16 m = clamp(rint(div(b, dmin)), 0.0f, 63.0f);
  return affine_errors(task, j, a, mul(dmin, m));
}

// Given d and dmin: for each sub-block the best of four scales by four minima about the optimum.
inline void settle_sub_block(const AffineTask& task, int j, const AffineFit& fit, AffineScales& s) {
  const F32x16 numbers = lane_numbers();
  const F32x16 row = rint(mul(sub(numbers, broadcast(1.5f)), broadcast(0.25f)));  // 0 0 0 0 1 1 1 1 ..
  const F32x16 column = fma(row, broadcast(-4.0f), numbers);
  const float first = __builtin_floorf(fit.a / s.d) - 1.0f;
  const F32x16 sc = clamp(add(broadcast(first), row), 0.0f, 63.0f);
  const F32x16 a = mul(broadcast(s.d), sc);
  const F32x16 b = div(fms(a, broadcast(fit.sum_wq), broadcast(task.sum_wx[j])), broadcast(task.sum_w[j]));
  const F32x16 lower = sub(rint(div(b, broadcast(s.dmin))), broadcast(2.0f));
  const F32x16 m = clamp(add(lower, column), 0.0f, 63.0f);
  const F32x16 errors = affine_errors(task, j, a, mul(broadcast(s.dmin), m));
  const int best = least_lane(errors);
  s.sc[j] = lane(sc, best);
  s.m[j] = lane(m, best);
  s.error += lane(errors, best);
}

inline void settle(const AffineTask& task, const AffineFit* fits, AffineScales& s) {
  s.error = 0.0f;
  for (int j = 0; j < kSubs; ++j) settle_sub_block(task, j, fits[j], s);
}

// Least squares for d and dmin, everything else given: x ~ d p - dmin m with p = sc q.
inline void solve_super(const AffineTask& task, AffineScales& s) {
  double pp = 0;
  double pm = 0;
  double mm = 0;
  double px = 0;
  double mx = 0;
  for (int j = 0; j < kSubs; ++j) {
    const double sc = s.sc[j];
    const double m = s.m[j];
    F32x16 wq = zero();
    F32x16 wqq = zero();
    F32x16 wqx = zero();
    const F32x16 inverse = inverse_of(broadcast(s.d * s.sc[j]));
    const F32x16 b = broadcast(s.dmin * s.m[j]);
    for (int i = j * kSub; i < (j + 1) * kSub; i += 16) {
      const F32x16 x = load(task.x + i);
      const F32x16 q = affine_code(add(x, b), inverse, broadcast(task.top));
      const F32x16 weighted = mul(load(task.w + i), q);
      wq = add(wq, weighted);
      wqq = fma(weighted, q, wqq);
      wqx = fma(weighted, x, wqx);
    }
    pp += sc * sc * tree_sum(wqq);
    px += sc * tree_sum(wqx);
    pm += sc * m * tree_sum(wq);
    mm += m * m * task.sum_w[j];
    mx += m * task.sum_wx[j];
  }
  const double determinant = pp * mm - pm * pm;
  if (determinant > 1e-9 * pp * mm) s.d = positive_half(static_cast<float>((px * mm - pm * mx) / determinant));
  if (mm > 0) s.dmin = positive_half(static_cast<float>((pm * s.d - mx) / mm));  // for the rounded d
}

// The most promising pairs of d and dmin, best first.
inline constexpr int kStarts = 5;
struct AffineStart {
  float error;
  float d;
  float dmin;
  int side;  // 0: x, 1: -x
};

inline void find_starts(const AffineTask& task, const AffineFit* fits, int side, AffineStart* starts) {
  float a_most = 0.0f;
  float b_most = 0.0f;
  for (int j = 0; j < kSubs; ++j) {
    a_most = fits[j].a > a_most ? fits[j].a : a_most;
    b_most = fits[j].b > b_most ? fits[j].b : b_most;
  }
  const F32x16 d = positive_half(div(broadcast(a_most), sub(broadcast(63.0f), lane_numbers())));
  for (int t = 63; t > 55; --t) {
    const float dmin = positive_half(b_most / static_cast<float>(t));
    F32x16 errors = zero();
    for (int j = 0; j < kSubs; ++j) errors = add(errors, rounded_errors(task, j, fits[j], d, broadcast(dmin)));
    const int best = least_lane(errors);
    keep_start(starts, kStarts, AffineStart{lane(errors, best), lane(d, best), dmin, side});
  }
}

inline void polish(const AffineTask& task, const AffineFit* fits, const AffineStart& start, AffineScales& best) {
  AffineScales s = {};
  s.d = start.d;
  s.dmin = start.dmin;
  s.side = start.side;
  for (int round = 0; round < 4; ++round) {
    settle(task, fits, s);
    const bool better = s.error < best.error;
    if (better) best = s;
    if (!better && round > 1) break;
    solve_super(task, s);
  }
}

// sides: x and -x.
inline AffineScales search_affine(const AffineTask* sides) {
  AffineFit fits[2][kSubs];
  AffineStart starts[kStarts];
  for (AffineStart& start : starts) start = {__builtin_inff(), kHalfLeast, kHalfLeast, 0};
  for (int side = 0; side < 2; ++side) {
    for (int j = 0; j < kSubs; ++j) fits[side][j] = fit_sub_block(sides[side], j);
    find_starts(sides[side], fits[side], side, starts);
  }
  AffineScales best = {};
  best.error = __builtin_inff();
  for (const AffineStart& start : starts) polish(sides[start.side], fits[start.side], start, best);
  return best;
}

}  // namespace
}  // namespace assay
