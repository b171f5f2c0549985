#include "reference/encode_k.h"

#include <algorithm>
#include <cmath>

#include "reference/convert.h"
#include "reference/decode.h"

namespace assay::reference {
namespace {

double rounded_to_half(double value) {
  return Half::decode(narrow<Half>(static_cast<float>(value)));
}

double quotient(double a, double b) {
  return b == 0 ? 0 : a / b;
}

double nearest(double value, double low, double high) {
  return std::clamp(std::nearbyint(value), low, high);
}

// A plain block of q4_k or q5_k, decoded: each sub-block of 32 spans [min(0, least), max] in 15 or 31 steps; the eight steps and
// the eight minima are rounded to 6 bits of the largest.
void plain_with_min(const float* x, double steps, double* decoded) {
  double step[8], least[8], largest_step = 0, largest_least = 0;
  for (int j = 0; j < 8; ++j) {
    const auto [low, high] = std::minmax_element(x + 32 * j, x + 32 * j + 32);
    least[j] = -std::min(0.0, static_cast<double>(*low));
    step[j] = std::max(0.0, static_cast<double>(*high) + least[j]) / steps;
    largest_step = std::max(largest_step, step[j]);
    largest_least = std::max(largest_least, least[j]);
  }
  const double d = rounded_to_half(largest_step / 63), dmin = rounded_to_half(largest_least / 63);
  for (int i = 0; i < 256; ++i) {
    const double scale = d * nearest(quotient(step[i / 32], d), 0, 63);
    const double min = dmin * nearest(quotient(least[i / 32], dmin), 0, 63);
    const double code = nearest(quotient(static_cast<double>(x[i]) + min, scale), 0, steps);
    decoded[i] = scale * code - min;
  }
}

// A plain block of q6_k, decoded: the first value of largest magnitude of each 16 gets the code -32; the sixteen steps are
// rounded to signed bytes of the largest, which gets -128.
void plain_signed(const float* x, double* decoded) {
  double step[16], largest = 0;
  for (int j = 0; j < 16; ++j) {
    const float* extreme =
        std::max_element(x + 16 * j, x + 16 * j + 16, [](float a, float b) { return std::abs(a) < std::abs(b); });
    step[j] = static_cast<double>(*extreme) / -32;
    if (std::abs(step[j]) > std::abs(largest)) largest = step[j];
  }
  const double d = rounded_to_half(largest / -128);
  for (int i = 0; i < 256; ++i) {
    const double scale = d * nearest(quotient(step[i / 16], d), -128, 127);
    decoded[i] = scale * nearest(quotient(static_cast<double>(x[i]), scale), -32, 31);
  }
}

double squared(double value) {
  return value * value;
}

}  // namespace

std::vector<double> encoding_weights(Format format, const float* x, std::int64_t n) {
  std::vector<double> weights;
  for (std::int64_t first = 0; first < n; first += 32) {
    double squares = 0;
    for (std::int64_t i = first; i < first + 32; ++i) squares += squared(static_cast<double>(x[i]));
    const double rms = std::sqrt(squares / 32);
    for (std::int64_t i = first; i < first + 32; ++i) {
      const auto value = static_cast<double>(x[i]);
      weights.push_back(format == Format::q6_k ? squared(value) : rms + std::abs(value));
    }
  }
  return weights;
}

EncodedError encoded_error(const Encoding& encoding, const std::uint8_t* blocks) {
  const std::vector<float> decoded = decode(encoding.format, blocks, static_cast<std::int64_t>(encoding.source.size()));
  EncodedError error;
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    const double square = squared(static_cast<double>(encoding.source[i]) - static_cast<double>(decoded[i]));
    error.weighted += encoding.weight[i] * square;
    error.plain += square;
  }
  return error;
}

bool plain_scales_fit(Format format, const float* x, std::int64_t n) {
  const Encoding encoding = encoding_of(format, x, n);
  return std::isfinite(encoding.fallback.plain);
}

Encoding encoding_of(Format format, const float* x, std::int64_t n) {
  Encoding encoding{format, {x, x + n}, encoding_weights(format, x, n), {}};
  double decoded[256];
  for (std::int64_t first = 0; first < n; first += 256) {
    if (format == Format::q6_k) {
      plain_signed(x + first, decoded);
    } else {
      plain_with_min(x + first, format == Format::q4_k ? 15 : 31, decoded);
    }
    for (std::int64_t i = 0; i < 256; ++i) {
      const double square = squared(static_cast<double>(x[first + i]) - decoded[i]);
      encoding.fallback.weighted += encoding.weight[static_cast<std::size_t>(first + i)] * square;
      encoding.fallback.plain += square;
    }
  }
  return encoding;
}

void encode_k_blocks(Format format, const CodecArgs& args, Expected& dst) {
  dst = {};
  dst.encoding = encoding_of(format, static_cast<const float*>(args.src), args.k);
}

}  // namespace assay::reference
