#include "golden/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace assay {
namespace {

struct Info {
  std::string_view name;
  std::size_t size;
  std::size_t alignment;
  std::int64_t numbers;
};

// In the order of DType.
constexpr std::array<Info, 19> kInfo{{{"f32", 4, 4, 1},
                                      {"f16", 2, 2, 1},
                                      {"bf16", 2, 2, 1},
                                      {"f64", 8, 8, 1},
                                      {"i32", 4, 4, 1},
                                      {"i64", 8, 8, 1},
                                      {"u8", 1, 1, 1},
                                      {"q4_0", 18, 2, 32},
                                      {"q4_1", 20, 2, 32},
                                      {"q5_0", 22, 2, 32},
                                      {"q5_1", 24, 2, 32},
                                      {"q8_0", 34, 2, 32},
                                      {"q4_k", 144, 2, 256},
                                      {"q5_k", 176, 2, 256},
                                      {"q6_k", 210, 2, 256},
                                      {"q8_k", 292, 4, 256},
                                      {"q4_k_x16", 2304, 2, 256},
                                      {"q6_k_x16", 3360, 2, 256},
                                      {"q8_0_x16", 544, 2, 32}}};
static_assert(kInfo.size() == static_cast<std::size_t>(DType::q8_0_x16) + 1);

const Info& info(DType dtype) noexcept {
  return kInfo[static_cast<std::size_t>(dtype)];
}

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
  return info(dtype).size;
}

std::size_t dtype_alignment(DType dtype) noexcept {
  return info(dtype).alignment;
}

std::int64_t dtype_numbers(DType dtype) noexcept {
  return info(dtype).numbers;
}

bool is_block(DType dtype) noexcept {
  return info(dtype).numbers > 1;
}

std::string_view dtype_name(DType dtype) noexcept {
  return info(dtype).name;
}

std::optional<DType> dtype_from_name(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kInfo.size(); ++i) {
    if (kInfo[i].name == name) return static_cast<DType>(i);
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
    default:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace assay
