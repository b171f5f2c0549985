// Misread norms: tests/plugins/misread.cc.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "harness/plugin/assay_plugin.h"
#include "kernels/norms/norms.h"

namespace assay::misread {

enum class Norm : std::uint8_t {
  right,
  eps_outside,
  no_eps,
  last_left_out,
  own_row,
  bfloat_weights,
  dense_rows,
  scaled,
  in_long_rows,
  chance,
  last_unwritten,
  some_unwritten,
  reads_past,
  fourth_lost,
  bfloat_results,
  bfloat_before_weights,
  whole_eights,  // squares of whole eights alone, also where there are none
  cut_off,       // results at most 1.5
  upper_half,    // by chance in the upper half of rows of 16 m + 3
  some_of_upper_half,
  rows_alike,  // by chance at the end of each row, in calls that have a row twice in turn
};

inline float bfloat(float x) {
  if (std::isnan(x)) return x;
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

inline double by_chance(float x, std::int64_t i) {
  return 1 + 0.3 * std::sin(static_cast<double>(x) * 977 + static_cast<double>(i));
}

inline bool has_rows_alike(const RmsNormArgs& a) {
  for (std::int64_t row = 1; row < a.rows; ++row) {
    const float* const x = a.x + row * a.x_stride;
    if (std::memcmp(x - a.x_stride, x, static_cast<std::size_t>(a.n) * sizeof *x) == 0) return true;
  }
  return false;
}

template <Norm kNorm>
AssayStatus rms_norm(const void* args) {
  const auto& a = *static_cast<const RmsNormArgs*>(args);
  if (!assay_rms_norm_sizes(&a)) return ASSAY_BAD_SHAPE;
  if (!(a.eps >= 0x1p-126F && a.eps <= 0x1.fffffep127F)) return ASSAY_BAD_PARAMETER;
  if (kNorm == Norm::reads_past && a.rows > 0 && a.n > 0) {  // the number behind the last one, as it declares
    const volatile float* const past = a.x + (a.rows - 1) * a.x_stride + a.n;
    (void)*past;
  }
  const bool alike = kNorm == Norm::rows_alike && has_rows_alike(a);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const float* const x = a.x + row * (kNorm == Norm::dense_rows ? a.n : a.x_stride);
    float* const y = a.y + row * a.y_stride;
    const std::int64_t summed = kNorm == Norm::last_left_out || (kNorm == Norm::in_long_rows && a.n > 256) ? a.n - 1 : a.n;
    double squares = 0;
    for (std::int64_t i = 0; i < summed; ++i) {
      if (kNorm == Norm::whole_eights && i >= a.n / 8 * 8) break;
      if (kNorm == Norm::fourth_lost && i < a.n / 32 * 32 && i % 32 >= 24) continue;
      squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    }
    const double eps = static_cast<double>(a.eps);
    const double mean = squares / static_cast<double>(kNorm == Norm::last_left_out || kNorm == Norm::in_long_rows ? summed : a.n);
    const double root = kNorm == Norm::eps_outside ? std::sqrt(mean) + eps
                        : kNorm == Norm::no_eps    ? std::sqrt(mean)
                                                   : std::sqrt(mean + eps);
    for (std::int64_t i = 0; i < (kNorm == Norm::last_left_out || kNorm == Norm::in_long_rows ? summed : a.n); ++i) {
      if (kNorm == Norm::last_unwritten && i + 1 == a.n) break;
      if (kNorm == Norm::some_unwritten && by_chance(x[i], i) > 1.2) continue;
      double w = static_cast<double>(kNorm == Norm::own_row ? x[i] : kNorm == Norm::bfloat_weights ? bfloat(a.w[i]) : a.w[i]);
      if (kNorm == Norm::scaled || kNorm == Norm::reads_past) w *= 1.5;
      if (kNorm == Norm::chance) w *= by_chance(x[i], i);
      const bool upper = a.n > 16 && a.n % 16 == 3 && i >= a.n / 2 &&
                         (kNorm == Norm::upper_half || (kNorm == Norm::some_of_upper_half && i % 3 == 0));
      if (upper) w *= by_chance(x[i], i);
      const double normal = static_cast<double>(x[i]) / root;
      const bool rounds = kNorm == Norm::bfloat_before_weights;
      y[i] = static_cast<float>((rounds ? static_cast<double>(bfloat(static_cast<float>(normal))) : normal) * w);
      if (kNorm == Norm::bfloat_results) y[i] = bfloat(y[i]);
      if (alike && i + 1 == a.n) y[i] -= static_cast<float>(by_chance(y[i], i));
      if (kNorm == Norm::cut_off) y[i] = std::clamp(y[i], -1.5F, 1.5F);
    }
  }
  return ASSAY_OK;
}

}  // namespace assay::misread
