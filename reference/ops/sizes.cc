#include "reference/ops/sizes.h"

#include <algorithm>

namespace assay {
namespace {

bool is_size(std::int64_t n) {
  return n >= 0 && n <= kMostElements;
}

// Of sizes. Past the limit it stays just past it.
bool product_is_size(std::span<const std::int64_t> sizes) {
  if (std::ranges::find(sizes, 0) != sizes.end()) return true;
  __int128 product = 1;
  for (const std::int64_t n : sizes) product = std::min<__int128>(product * n, __int128{kMostElements} + 1);
  return product <= kMostElements;
}

bool may_be(const TensorSizes& tensor) {
  if (!std::ranges::all_of(tensor.sizes, is_size) || !std::ranges::all_of(tensor.strides, is_size)) return false;
  for (std::size_t axis = 0; axis < tensor.strides.size(); ++axis) {
    if (!product_is_size(std::vector{tensor.sizes[axis], tensor.strides[axis]})) return false;
  }
  return product_is_size(tensor.sizes);
}

}  // namespace

bool may_be(std::span<const TensorSizes> tensors) {
  return std::ranges::all_of(tensors, [](const TensorSizes& one) { return may_be(one); });
}

}  // namespace assay
