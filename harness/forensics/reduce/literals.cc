#include "harness/forensics/reduce/literals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <type_traits>

namespace assay {
namespace {

constexpr CType kCTypes[] = {{DType::f32, "float", 0x7f800000}, {DType::f16, "uint16_t", 0x7c00},
                             {DType::bf16, "uint16_t", 0x7f80}, {DType::f64, "double", 0x7ff0000000000000},
                             {DType::i32, "int32_t"},           {DType::i64, "int64_t"}};

template <class Real>
std::string real_literal(Real value) {
  const char* const suffix = std::is_same_v<Real, float> ? "f" : "";
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  std::string digits = fmt::format("{}", value);
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return digits + suffix;
}

}  // namespace

const CType& c_type(DType dtype) {
  const auto found = std::ranges::find(kCTypes, dtype, &CType::dtype);
  return found == std::end(kCTypes) ? kBytes : *found;
}

std::string literal(DType dtype, const std::uint8_t* element) {
  switch (dtype) {
    case DType::f32:
      return real_literal(value_at<float>(element));
    case DType::f64:
      return real_literal(value_at<double>(element));
    case DType::f16:
    case DType::bf16:
      return fmt::format("0x{:04x}", value_at<std::uint16_t>(element));
    case DType::i32:
      return fmt::format("{}", value_at<std::int32_t>(element));
    case DType::i64:
      return fmt::format("INT64_C({})", value_at<std::int64_t>(element));
    default:
      return fmt::format("{}", *element);
  }
}

std::string literal(double value) {
  return real_literal(value);
}

}  // namespace assay
