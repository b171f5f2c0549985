#include "reference/encode.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "reference/convert.h"
#include "reference/decode.h"
#include "reference/encode_k.h"

namespace assay::reference {
namespace {

using Bytes = std::vector<std::uint8_t>;

// One that is not finite, of a zero or of a denormal, counts as 0.
float reciprocal(float d) {
  const float r = 1.0F / d;
  return std::isfinite(r) ? r : 0.0F;
}

template <class T>
void append(Bytes& bytes, T value) {
  append_bytes(bytes, &value, 1);
}

// The signed value of the first largest magnitude; +0 if there is none above 0.
float signed_max(const float* x, int count) {
  float max = 0, magnitude = 0;
  for (int i = 0; i < count; ++i) {
    if (std::fabs(x[i]) <= magnitude) continue;
    magnitude = std::fabs(x[i]);
    max = x[i];
  }
  return max;
}

struct Extremes {
  float min;
  float max;
};
// By strict comparison from element 0 on: the first of equals fixes a zero's sign.
Extremes extremes_of(const float* x, int count) {
  Extremes range{x[0], x[0]};
  for (int i = 1; i < count; ++i) {
    if (x[i] < range.min) range.min = x[i];
    if (x[i] > range.max) range.max = x[i];
  }
  return range;
}

// The scales of a block of 32 before they are rounded to f16; m is q4_1's and q5_1's.
struct Scales {
  float d;
  float m;
};
Scales scales_of(Format format, const float* x) {
  if (format == Format::q4_0 || format == Format::q5_0) return {signed_max(x, 32) / (format == Format::q4_0 ? -8.0F : -16.0F), 0};
  if (format == Format::q8_0) return {std::fabs(signed_max(x, 32)) / 127.0F, 0};
  const Extremes range = extremes_of(x, 32);
  const float span = range.max - range.min;
  return {span / (format == Format::q4_1 ? 15.0F : 31.0F), range.min};
}

// Code of one element of q4_0, q4_1, q5_0, q5_1; each intermediate is rounded to fp32.
int small_code(Format format, const Scales& scales, float x) {
  const bool five = format == Format::q5_0 || format == Format::q5_1;
  const bool has_min = format == Format::q4_1 || format == Format::q5_1;
  const float id = reciprocal(scales.d);
  const float shifted = has_min ? x - scales.m : x;
  const float product = shifted * id;
  const float offset = has_min ? 0.5F : (five ? 16.5F : 8.5F);
  const float sum = product + offset;
  return std::min(five ? 31 : 15, static_cast<int>(sum));
}

void append_small(Format format, const float* x, Bytes& bytes) {
  const Scales scales = scales_of(format, x);
  append(bytes, narrow<Half>(scales.d));
  if (format == Format::q4_1 || format == Format::q5_1) append(bytes, narrow<Half>(scales.m));
  std::array<std::uint8_t, 16> nibbles{};
  std::uint32_t high = 0;
  for (std::size_t j = 0; j < 32; ++j) {
    const auto code = static_cast<std::uint32_t>(small_code(format, scales, x[j]));
    nibbles[j % 16] = static_cast<std::uint8_t>(nibbles[j % 16] | (code & 15) << (j / 16 * 4));
    high |= code >> 4 << j;
  }
  if (format == Format::q5_0 || format == Format::q5_1) append(bytes, high);
  append_bytes(bytes, nibbles.data(), nibbles.size());
}

// Weight files: trunc(p + copysign(0x1.fffffep-2, p)), p = x fl(1/d). Activations: nearest even of x fl(127 / amax).
void append_q8_0(Rounding rounding, const float* x, Bytes& bytes) {
  const float d = scales_of(Format::q8_0, x).d;
  append(bytes, narrow<Half>(d));
  const float even = 127.0F / std::fabs(signed_max(x, 32));
  for (int i = 0; i < 32; ++i) {
    float code = 0;
    if (rounding == Rounding::away) {
      const float product = x[i] * reciprocal(d);
      code = std::trunc(product + std::copysign(0x1.fffffep-2F, product));
    } else if (std::isfinite(even)) {
      code = std::nearbyint(x[i] * even);
    }
    append(bytes, static_cast<std::int8_t>(code));
  }
}

// d = fl(1 / iscale), iscale = -127 / max: the value of largest magnitude gets the code -127.
void append_q8_k(const float* x, Bytes& bytes) {
  const float iscale = -127.0F / signed_max(x, 256);
  const bool zero = !std::isfinite(iscale);
  append(bytes, zero ? 0.0F : 1.0F / iscale);
  std::array<std::int16_t, 16> sums{};
  for (std::size_t i = 0; i < 256; ++i) {
    const float code = zero ? 0.0F : std::nearbyint(iscale * x[i]);
    append(bytes, static_cast<std::int8_t>(code));
    sums[i / 16] = static_cast<std::int16_t>(sums[i / 16] + static_cast<int>(code));
  }
  append_bytes(bytes, sums.data(), sums.size());
}

bool beyond_half(float value) {
  return (narrow<Half>(value) & Half::infinity) == Half::infinity;
}

}  // namespace

std::vector<std::uint8_t> encode(Format format, Rounding rounding, const float* x, std::int64_t n) {
  Bytes bytes;
  for (std::int64_t first = 0; first < n; first += dtype_numbers(format)) {
    if (format == Format::q8_k) {
      append_q8_k(x + first, bytes);
    } else if (format == Format::q8_0) {
      append_q8_0(rounding, x + first, bytes);
    } else {
      append_small(format, x + first, bytes);
    }
  }
  return bytes;
}

AssayStatus encode_status(Format format, const float* x, std::int64_t n) {
  if (!std::all_of(x, x + n, [](float value) { return std::isfinite(value); })) return ASSAY_NOT_FINITE;
  if (format == Format::q8_k) return ASSAY_OK;
  if (dtype_numbers(format) == 256) return plain_scales_fit(format, x, n) ? ASSAY_OK : ASSAY_NOT_FINITE;
  for (std::int64_t first = 0; first < n; first += 32) {
    const Scales scales = scales_of(format, x + first);
    if (beyond_half(scales.d) || beyond_half(scales.m)) return ASSAY_NOT_FINITE;
  }
  return ASSAY_OK;
}

void encode_blocks(Format format, const CodecArgs& args, Expected& dst) {
  dst = {};
  dst.bytes = encode(format, Rounding::away, static_cast<const float*>(args.src), args.k);
}

void quantize_rows(Format format, const CodecArgs& args, Expected& dst) {
  dst = {};
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const auto* src = static_cast<const float*>(args.src) + row * args.src_stride;
    const std::vector<std::uint8_t> bytes = encode(format, Rounding::nearest_even, src, args.k);
    dst.bytes.insert(dst.bytes.end(), bytes.begin(), bytes.end());
  }
}

}  // namespace assay::reference
