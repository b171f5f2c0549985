// What an input holds that a kernel may be wrong for: kinds of numbers, rows and blocks.
#pragma once

#include <cstdint>
#include <string>

#include "golden/hdf5.h"
#include "reference/ops/tensor.h"

namespace assay::why {

using Contents = std::uint64_t;  // a bit each

// Of a number: the bits that a tensor of numbers begins with, and the words of each.
inline constexpr int kElementKinds = 10;
Contents element_kinds(DType dtype, const std::uint8_t* element);
const char* element_kind(int bit);

Contents contents_of(const TensorSpec& spec, const Array& array);
// "x has an element that is infinite", or with `none` "x has no element that is infinite"; empty: there is no such bit.
std::string contents_words(const TensorSpec& spec, int bit, bool none);

}  // namespace assay::why
