// What a kernel declares of its exponential, its reciprocal root and its products, `exp=`, `rsqrt=` and `products=`, held to what it gives where
// nothing else is rounded.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "harness/verdict/check.h"

namespace assay::order {

// Why the declaration is false; none: nothing that can be seen speaks against it. Asked are softmax, attention and rms_norm (of exp and swiglu the
// bound says it), and products of numbers.
std::optional<std::string> false_function(const Op& op, const Candidate& candidate, std::size_t page);

}  // namespace assay::order
