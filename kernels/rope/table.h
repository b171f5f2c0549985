/* rope_table: angles by recipe, their sines and cosines. After an ISA's header and its _f64 header. */
#pragma once

#include <string.h>

#include "kernels/rope/math_f64.h"
#include "kernels/rope/rope.h"

namespace assay {
namespace {

inline AssayStatus validate(const RopeTableArgs& args) {
  switch (args.recipe) {
    case ASSAY_ROPE_F64:
    case ASSAY_ROPE_HF:
    case ASSAY_ROPE_GGML: {
      const bool in_domain = args.theta >= 1.0 && args.theta <= 0x1p40;
      if (!in_domain) return ASSAY_BAD_PARAMETER;
      break;
    }
    case ASSAY_ROPE_FREQS:
      for (int64_t i = 0; i < args.pairs; ++i) {
        const float magnitude = __builtin_fabsf(args.inv_freq[i]);
        const bool is_finite = magnitude <= 0x1.fffffep127f;
        if (!is_finite) return ASSAY_NOT_FINITE;
        if (magnitude > 16.0f) return ASSAY_BAD_PARAMETER;
      }
      break;
    default:
      return ASSAY_BAD_PARAMETER;
  }
  for (int64_t j = 0; j < args.rows; ++j) {
    if (args.positions[j] < 0 || args.positions[j] >= (1 << 24)) return ASSAY_OUT_OF_RANGE;
  }
  return ASSAY_OK;
}

ASSAY_INLINE int64_t pairs_in_block(const RopeTableArgs& args, int64_t first) {
  return args.pairs - first < kLanes64 ? args.pairs - first : kLanes64;
}

ASSAY_INLINE void write_block(const RopeTableArgs& args, int64_t row, int64_t first, const F64x8& angle) {
  const SinCos table = sin_cos_f64(angle);
  const int64_t at = row * args.table_stride + first;
  const int64_t count = pairs_in_block(args, first);
  store_f32(args.cos + at, table.cos, count);
  store_f32(args.sin + at, table.sin, count);
}

// What a position is multiplied by, for eight pairs from `first` on.
inline F64x8 frequencies(const RopeTableArgs& args, const Dd& ln_theta, int64_t first) {
  double lanes[8] = {};
  const int64_t count = pairs_in_block(args, first);
  const double d = 2.0 * static_cast<double>(args.pairs);
  for (int64_t i = 0; i < count; ++i) {
    const double exponent = 2.0 * static_cast<double>(first + i) / d;  // its two roundings below agree with fl32's one
    lanes[i] = args.recipe == ASSAY_ROPE_FREQS ? static_cast<double>(args.inv_freq[first + i])
               : args.recipe == ASSAY_ROPE_F64 ? -exponent
                                               : static_cast<double>(static_cast<float>(exponent));
  }
  const F64x8 v = load64(lanes);
  if (args.recipe == ASSAY_ROPE_FREQS) return v;
  const F64x8 power = power_f64(ln_theta, v);
  if (args.recipe == ASSAY_ROPE_F64) return power;
  return round_to_f32(div(broadcast64(1.0), round_to_f32(power)));  // through f64: no double rounding, 53 >= 2*24 + 2
}

inline void fill_by_frequency(const RopeTableArgs& args) {
  const Dd ln_theta = args.recipe == ASSAY_ROPE_FREQS ? broadcast_dd(0.0, 0.0) : log_f64(args.theta);
  for (int64_t first = 0; first < args.pairs; first += kLanes64) {
    const F64x8 frequency = frequencies(args, ln_theta, first);
    for (int64_t row = 0; row < args.rows; ++row) {
      const F64x8 angle = mul(frequency, broadcast64(static_cast<double>(args.positions[row])));
      write_block(args, row, first, args.recipe == ASSAY_ROPE_F64 ? angle : round_to_f32(angle));
    }
  }
}

// ggml's angles are a chain of rounded products along the row.
inline void fill_by_chain(const RopeTableArgs& args) {
  double powers[8];
  store64(powers, power_f64(log_f64(args.theta), broadcast64(-1.0 / static_cast<double>(args.pairs))));
  const float step = static_cast<float>(powers[0]);
  for (int64_t row = 0; row < args.rows; ++row) {
    float angle = static_cast<float>(args.positions[row]);
    for (int64_t first = 0; first < args.pairs; first += kLanes64) {
      double angles[8];
      for (double& a : angles) {
        a = static_cast<double>(angle);
        angle *= step;
      }
      write_block(args, row, first, load64(angles));
    }
  }
}

inline AssayStatus rope_table_body(const RopeTableArgs& args) {
  const AssayStatus status = validate(args);
  if (status != ASSAY_OK) return status;
  if (args.rows == 0 || args.pairs == 0) return ASSAY_OK;
  if (args.recipe == ASSAY_ROPE_GGML) {
    fill_by_chain(args);
  } else {
    fill_by_frequency(args);
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
