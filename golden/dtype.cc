#include "golden/dtype.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace assay {
namespace {

template <class T>
T load(const void* element) noexcept {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

double half_as_double(std::uint16_t bits) noexcept {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  double magnitude = 0;
  if (exponent == 31) {
    magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else {
    magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

}  // namespace

double element_as_double(DType dtype, const void* element) noexcept {
  switch (dtype) {
    case DType::f32:
      return load<float>(element);
    case DType::f16:
      return half_as_double(load<std::uint16_t>(element));
    case DType::bf16:
      return std::bit_cast<float>(static_cast<std::uint32_t>(load<std::uint16_t>(element)) << 16);
    case DType::f64:
      return load<double>(element);
    case DType::i32:
      return load<std::int32_t>(element);
    case DType::i64:
      return static_cast<double>(load<std::int64_t>(element));
    case DType::u8:
      return load<std::uint8_t>(element);
    default:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace assay
