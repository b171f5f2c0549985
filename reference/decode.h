// Numbers out of raw bits, from the formats' definitions: sign, exponent field, fraction field.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace assay::reference {

// IEEE 754 interchange formats of up to 32 bits, by the width of their two fields.
template <int kExponentBits, int kFractionBits>
struct Binary {
  static constexpr int fraction_bits = kFractionBits;
  static constexpr int bias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int min_exponent = 1 - bias;  // that of the smallest normal number
  static constexpr std::uint32_t fraction_mask = (1u << kFractionBits) - 1;
  static constexpr std::uint32_t exponent_mask = (1u << kExponentBits) - 1;
  static constexpr std::uint32_t quiet_bit = 1u << (kFractionBits - 1);
  static constexpr std::uint32_t infinity = exponent_mask << kFractionBits;
  static constexpr int sign_shift = kExponentBits + kFractionBits;

  // (-1)^s 2^(e - bias) 1.f; (-1)^s 2^(1 - bias) 0.f where e = 0.
  static double decode(std::uint32_t bits) {
    const std::uint32_t fraction = bits & fraction_mask;
    const auto exponent = static_cast<int>((bits >> kFractionBits) & exponent_mask);
    double magnitude = 0;
    if (exponent == static_cast<int>(exponent_mask)) {
      magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    } else if (exponent == 0) {
      magnitude = std::ldexp(fraction, min_exponent - kFractionBits);
    } else {
      magnitude = std::ldexp(fraction | (1u << kFractionBits), exponent - bias - kFractionBits);
    }
    return (bits >> sign_shift) != 0 ? -magnitude : magnitude;
  }
};

using Half = Binary<5, 10>;
using Bfloat = Binary<8, 7>;
using Single = Binary<8, 23>;

// Weights of each storage type as doubles.
struct DecodeF32 {
  double operator()(float value) const { return static_cast<double>(value); }
};

// All 65536 values of a 16-bit format, so that a large matrix costs a look-up an element.
template <class Format>
class Decode16 {
 public:
  double operator()(std::uint16_t bits) const { return table_[bits]; }

 private:
  static const double* table() {
    static const std::vector<double> values = [] {
      std::vector<double> all(65536);
      for (std::uint32_t bits = 0; bits < 65536; ++bits) all[bits] = Format::decode(bits);
      return all;
    }();
    return values.data();
  }
  const double* table_ = table();
};

// The bytes of `values`, as they lie in (little-endian) memory.
template <class T>
void append_bytes(std::vector<std::uint8_t>& bytes, const T* values, std::size_t count) {
  static_assert(std::endian::native == std::endian::little && std::is_trivially_copyable_v<T>);
  if (count == 0) return;
  const std::size_t old_size = bytes.size();
  bytes.resize(old_size + count * sizeof(T));
  std::memcpy(bytes.data() + old_size, values, count * sizeof(T));
}

}  // namespace assay::reference
