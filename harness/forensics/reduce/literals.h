// Numbers as C has them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "golden/dtype.h"

namespace assay {

// What literals of a type look like, and its infinity's bits.
struct CType {
  DType dtype;
  const char* name;
  std::uint64_t infinity = 0;
};
// What has no type of its own in C, such as blocks.
inline constexpr CType kBytes{DType::u8, "unsigned char"};
const CType& c_type(DType dtype);

// An element; of what is bytes its first.
std::string literal(DType dtype, const std::uint8_t* element);
std::string literal(double value);

template <class T>
T value_at(const std::uint8_t* bytes) {
  T value{};
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

}  // namespace assay
