#include "golden/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace assay {
namespace {

struct Info {
  DType dtype;
  std::string_view name;
  std::size_t size;
};

constexpr std::array<Info, 7> kInfo{{{DType::f32, "f32", 4},
                                     {DType::f16, "f16", 2},
                                     {DType::bf16, "bf16", 2},
                                     {DType::f64, "f64", 8},
                                     {DType::i32, "i32", 4},
                                     {DType::i64, "i64", 8},
                                     {DType::u8, "u8", 1}}};

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

std::size_t dtype_size(DType dtype) noexcept {
  return kInfo[static_cast<std::size_t>(dtype)].size;
}

std::string_view dtype_name(DType dtype) noexcept {
  return kInfo[static_cast<std::size_t>(dtype)].name;
}

std::optional<DType> dtype_from_name(std::string_view name) noexcept {
  for (const Info& info : kInfo) {
    if (info.name == name) return info.dtype;
  }
  return std::nullopt;
}

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
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace assay
