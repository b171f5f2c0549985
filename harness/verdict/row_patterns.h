// Patterns of the rows of a call's inputs, all of them at once.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "golden/generate.h"
#include "golden/hdf5.h"
#include "reference/ops/tensor.h"

namespace assay {

struct RowPattern {
  const char* what;
  void (*put)(const TensorSpec& spec, Array& array, std::size_t input);
  std::int64_t length;  // of rows, if draws have it
};
std::span<const RowPattern> row_patterns();

inline std::int64_t row_length(const Array& array) {
  return array.shape.empty() ? 1 : array.shape.back();
}
inline void put(Array& array, std::int64_t i, SpecialNumber number, bool negative = false) {
  put_special(array.dtype, array.bytes.data(), i, number, negative);
}
// Each element of an f32 array: value(i, what it is).
template <class Value>
void set_floats(Array& array, Value value) {
  for (std::size_t i = 0; i < array.bytes.size() / sizeof(float); ++i) {
    float x = 0;
    std::memcpy(&x, &array.bytes[i * sizeof x], sizeof x);
    x = value(static_cast<std::int64_t>(i), x);
    std::memcpy(&array.bytes[i * sizeof x], &x, sizeof x);
  }
}
// What changes nothing: 1 in the second input, as a norm's weights or a cosine are, 0 in the first and third.
inline void put_neutral(Array& array, std::int64_t i, std::size_t input) {
  put(array, i, input % 2 == 0 ? SpecialNumber::zero : SpecialNumber::one);
}

}  // namespace assay
