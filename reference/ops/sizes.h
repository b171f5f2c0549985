// Which sizes a call may have, stated anew of its tensors: every kernel must refuse others (kernels/sizes.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay {

// The sizes of a tensor, outermost first, and the strides of as many of them; or a lone size.
struct TensorSizes {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides = {};
};

inline constexpr std::int64_t kMostElements = std::int64_t{1} << 50;

// Every size and stride, the product of the sizes and each size times its stride lie in 0 .. kMostElements.
bool may_be(std::span<const TensorSizes> tensors);

}  // namespace assay
