// A block in words.
#pragma once

#include <cstdint>
#include <string>

#include "golden/dtype.h"

namespace assay {

// One line: scales, and the first `count` codes and values; of a packed block, its first row.
std::string describe_block(DType dtype, const std::uint8_t* bytes, std::int64_t count);
// The whole block: a line for each run of elements under one scale, with its codes and values; a packed block row by row.
std::string block_listing(DType dtype, const std::uint8_t* bytes);

}  // namespace assay
