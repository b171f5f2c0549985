/* The search behind encode_q6_k: w = d sc_j c with c in -32..31 and sc in -128..127, sixteen sub-blocks of 16, weights x^2. After
   one of the bytes_*.h headers.

   1. Each sub-block alone: the best real scale of either sign (the range of c is lopsided) by alternating least squares.
   2. d: quotients of the largest scale of each sign by 127, 126, .. 64 as halves, each judged with scales rounded to whole
   numbers.
   3. The best are polished: given d, whole scales near the two optima; given these and the codes, d by least squares; and again.
   4. Where a few large numbers decide, the plain scales may be better still.
 */
#pragma once

#include "kernels/codecs/search.h"

namespace assay {
namespace {

inline constexpr int kParts = 16;
inline constexpr int kPart = 16;

// The real scales of a sub-block: one above zero, one below.
struct CentredFit {
  float above;
  float below;
};

struct CentredScales {
  float error;
  float d;
  float sc[kParts];
};

ASSAY_INLINE F32x16 centred_code(F32x16 x, F32x16 inverse) {
  return clamp(rint(mul(x, inverse)), -32.0f, 31.0f);
}
// Where a = 0 every code is as good as another.
ASSAY_INLINE F32x16 signed_inverse(F32x16 a) {
  return with_sign_of(div(broadcast(1.0f), max(magnitude(a), broadcast(0x1p-60f))), a);
}

ASSAY_INLINE F32x16 centred_errors(const float* x, F32x16 a) {
  const F32x16 inverse = signed_inverse(a);
  const F32x16 minus_a = neg(a);
  F32x16 even = zero();
  F32x16 odd = zero();
  for (int i = 0; i < kPart; i += 2) {
    const F32x16 x0 = broadcast(x[i]);
    const F32x16 x1 = broadcast(x[i + 1]);
    const F32x16 e0 = mul(x0, fma(minus_a, centred_code(x0, inverse), x0));  // x^2 e^2 = (x e)^2
    const F32x16 e1 = mul(x1, fma(minus_a, centred_code(x1, inverse), x1));
    even = fma(e0, e0, even);
    odd = fma(e1, e1, odd);
  }
  return add(even, odd);
}

// a = sum w x c / sum w c^2 for the codes of a.
ASSAY_INLINE F32x16 refit(const float* x, F32x16 a) {
  const F32x16 inverse = signed_inverse(a);
  F32x16 xc = zero();
  F32x16 cc = zero();
  for (int i = 0; i < kPart; ++i) {
    const F32x16 xi = broadcast(x[i]);
    const F32x16 wc = mul(broadcast(x[i] * x[i]), centred_code(xi, inverse));
    xc = fma(wc, xi, xc);
    cc = fma(wc, centred_code(xi, inverse), cc);
  }
  return div(xc, max(cc, broadcast(0x1p-120f)));
}

// Sixteen starts: the largest magnitude at code 32.25 .. 28.5. The noise term drowns differences that are rounding alone: of such
// equals the first wins, and a constant gets code -32, whose scale halves round as its own value does.
inline float fit_scale(const float* x, float amax, float sign) {
  const F32x16 steps = fma(lane_numbers(), broadcast(-0.25f), broadcast(32.25f));
  F32x16 a = div(broadcast(amax * sign), steps);
  for (int round = 0; round < 2; ++round) a = refit(x, a);
  const float noise = (amax * amax) * (amax * amax) * 0x1p-14f;
  return lane(a, least_lane(add(centred_errors(x, a), broadcast(noise))));
}

inline CentredFit fit_part(const float* x) {
  const float amax = tree_max(magnitude(load(x)));
  if (amax == 0.0f) return {0.0f, 0.0f};
  return {fit_scale(x, amax, 1.0f), fit_scale(x, amax, -1.0f)};
}

ASSAY_INLINE F32x16 whole_scale(float a, F32x16 d) {
  return clamp(rint(div(broadcast(a), d)), -128.0f, 127.0f);
}

// Errors of the super-block under sixteen d.
inline F32x16 rounded_errors(const float* x, const CentredFit* fits, F32x16 d) {
  F32x16 errors = zero();
  for (int j = 0; j < kParts; ++j) {
    const F32x16 above = centred_errors(x + j * kPart, mul(d, whole_scale(fits[j].above, d)));
    const F32x16 below = centred_errors(x + j * kPart, mul(d, whole_scale(fits[j].below, d)));
    errors = add(errors, min(above, below));
  }
  return errors;
}

struct Scored {
  float error;
  float sc;
};
// The best of sixteen whole scales about a.
ASSAY_INLINE Scored best_near(const float* x, float a, float d) {
  if (a == 0.0f) return {0.0f, 0.0f};  // zeros
  const F32x16 nearest = broadcast(__builtin_rintf(a / d) - 8.0f);
  const F32x16 sc = clamp(add(nearest, lane_numbers()), -128.0f, 127.0f);
  const F32x16 errors = centred_errors(x, mul(sc, broadcast(d)));
  const int best = least_lane(errors);
  return {lane(errors, best), lane(sc, best)};
}

// Given d: the whole scale of each sub-block.
inline void settle(const float* x, const CentredFit* fits, CentredScales& s) {
  s.error = 0.0f;
  for (int j = 0; j < kParts; ++j) {
    const Scored above = best_near(x + j * kPart, fits[j].above, s.d);
    const Scored below = best_near(x + j * kPart, fits[j].below, s.d);
    const Scored& best = below.error < above.error ? below : above;
    s.sc[j] = best.sc;
    s.error += best.error;
  }
}

// Least squares for d, everything else given: x ~ d p with p = sc c.
inline void solve_super(const float* x, CentredScales& s) {
  double xp = 0;
  double pp = 0;
  for (int j = 0; j < kParts; ++j) {
    const F32x16 v = load(x + j * kPart);
    const F32x16 c = centred_code(v, signed_inverse(broadcast(s.d * s.sc[j])));
    const F32x16 wc = mul(mul(v, v), c);
    const double sc = s.sc[j];
    xp += sc * tree_sum(mul(wc, v));
    pp += sc * sc * tree_sum(mul(wc, c));
  }
  if (pp > 0) s.d = positive_half(static_cast<float>(xp / pp));
}

// The most promising d, best first.
inline constexpr int kCentredStarts = 4;
struct CentredStart {
  float error;
  float d;
};

inline void find_starts(const float* x, const CentredFit* fits, CentredStart* starts) {
  float most[2] = {0.0f, 0.0f};
  for (int j = 0; j < kParts; ++j) {
    most[0] = fits[j].above > most[0] ? fits[j].above : most[0];
    most[1] = -fits[j].below > most[1] ? -fits[j].below : most[1];
  }
  for (int k = 0; k < kCentredStarts; ++k) starts[k] = {__builtin_inff(), kHalfLeast};
  for (float largest : most) {
    for (int first = 127; first > 63; first -= 16) {
      const F32x16 whole = sub(broadcast(static_cast<float>(first)), lane_numbers());
      float d[16];
      float errors[16];
      store(d, positive_half(div(broadcast(largest), whole)));
      store(errors, rounded_errors(x, fits, load(d)));
      for (int i = 0; i < 16; ++i) keep_start(starts, kCentredStarts, CentredStart{errors[i], d[i]});
    }
  }
}

// The scales without a search: in each sub-block the first of largest magnitude gets code -32, and the largest of these scales -128.
inline CentredScales plain_centred(const float* x) {
  float steps[kParts];
  float largest = 0.0f;
  for (int j = 0; j < kParts; ++j) {
    const float* part = x + j * kPart;
    steps[j] = first_of_magnitude(part, tree_max(magnitude(load(part)))) / -32.0f;
    if (__builtin_fabsf(steps[j]) > __builtin_fabsf(largest)) largest = steps[j];
  }
  CentredScales s = {};
  s.d = half_value(to_half(largest / -128.0f));
  if (s.d == 0.0f) {
    s.error = __builtin_inff();
    return s;
  }
  for (int j = 0; j < kParts; ++j) {
    s.sc[j] = lane(whole_scale(steps[j], broadcast(s.d)), 0);
    s.error += lane(centred_errors(x + j * kPart, broadcast(s.d * s.sc[j])), 0);
  }
  return s;
}

// Never worse than without a search.
inline CentredScales search_centred(const float* x) {
  CentredFit fits[kParts];
  for (int j = 0; j < kParts; ++j) fits[j] = fit_part(x + j * kPart);
  CentredStart starts[kCentredStarts];
  find_starts(x, fits, starts);
  CentredScales best = {};
  best.error = __builtin_inff();
  for (const CentredStart& start : starts) {
    CentredScales s = {};
    s.d = start.d;
    for (int round = 0; round < 4; ++round) {
      settle(x, fits, s);
      const bool better = s.error < best.error;
      if (better) best = s;
      if (!better && round > 1) break;
      solve_super(x, s);
    }
  }
  const CentredScales plain = plain_centred(x);
  return plain.error < best.error ? plain : best;
}

}  // namespace
}  // namespace assay
