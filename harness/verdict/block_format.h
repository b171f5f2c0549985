// A block in words, and what in it follows from the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "golden/dtype.h"

namespace assay {

// One line: scales, and the first `count` codes and values; of a packed block, its first row.
std::string describe_block(DType dtype, const std::uint8_t* bytes, std::int64_t count);
// The whole block: a line for each run of elements under one scale, with its codes and values; a packed block row by row.
std::string block_listing(DType dtype, const std::uint8_t* bytes);

// What a block says twice, the sums of q8_k's codes: whether the byte at `offset` in it is of that, and that anew after a change of the codes.
bool is_derived(DType dtype, std::size_t offset);
void renew_derived(DType dtype, std::uint8_t* block);

}  // namespace assay
