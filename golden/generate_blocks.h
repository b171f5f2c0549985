// Blocks of quantised formats made from a seed (golden/SCHEMA.md, "Generated blocks").
#pragma once

#include <cstdint>
#include <string_view>

#include "golden/dtype.h"

namespace assay {

// Fills `count` plain blocks (no _x16 type) at dst. False where `distribution` makes no blocks.
bool generate_blocks(std::string_view distribution, std::uint64_t seed, std::uint32_t stream, DType dtype, std::int64_t count,
                     std::uint8_t* dst);

// Where a block has what: of q6_k and blocks without a minimum `minimum`, of those without scales of their own `scales` has no bytes.
struct BlockPart {
  int at = 0;
  int count = 0;  // bytes
};
struct BlockParts {
  BlockPart scale;
  BlockPart minimum;
  BlockPart scales;
  BlockPart codes;
};
BlockParts parts_of(DType dtype);

// Makes activations of a block of q8_0 or q8_k: no code is -128, and sums are those of the codes.
void as_activations(DType dtype, std::uint8_t* block);

}  // namespace assay
