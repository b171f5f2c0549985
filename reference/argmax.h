// The first index of the maximum: its bytes.
#pragma once

#include "kernels/lookups/lookups.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

extern const Contract kArgmaxContract;

// Throws std::invalid_argument for what the kernel refuses: no elements, 2^31 and more, a NaN.
void argmax(const ArgmaxArgs& args, Expected& index);

}  // namespace assay::reference
