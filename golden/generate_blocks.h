// Blocks of quantised formats made from a seed (golden/SCHEMA.md, "Generated blocks").
#pragma once

#include <cstdint>
#include <string_view>

#include "golden/dtype.h"

namespace assay {

// Fills `count` plain blocks (no _x16 type) at dst. False where `distribution` makes no blocks.
bool generate_blocks(std::string_view distribution, std::uint64_t seed, std::uint32_t stream, DType dtype, std::int64_t count,
                     std::uint8_t* dst);

}  // namespace assay
