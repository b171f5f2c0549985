// One element of a tensor in words: where it is, what it holds.
#pragma once

#include <cstdint>
#include <string>

#include "reference/ops/signature.h"

namespace assay {

// "y[3, 17]" for a flat index.
std::string element_name(const TensorSpec& spec, std::int64_t index);
// "0x3f800000 (1)"; of a block its scales and first codes.
std::string describe_element(DType dtype, const std::uint8_t* element);

}  // namespace assay
