// Block types of tensors as the references know them, and a block in words.
#pragma once

#include <cstdint>
#include <string>

#include "golden/dtype.h"
#include "reference/blocks.h"

namespace assay {

inline constexpr std::int64_t kPackedRows = 16;

// Sixteen rows interleaved.
constexpr bool is_packed(DType dtype) {
  return dtype == DType::q4_k_x16 || dtype == DType::q6_k_x16 || dtype == DType::q8_0_x16;
}

// The format of a block type; of a packed one, that of its rows.
constexpr reference::Format block_format(DType dtype) {
  if (dtype == DType::q4_k_x16) return reference::Format::q4_k;
  if (dtype == DType::q6_k_x16) return reference::Format::q6_k;
  if (dtype == DType::q8_0_x16) return reference::Format::q8_0;
  return static_cast<reference::Format>(static_cast<int>(dtype) - static_cast<int>(DType::q4_0));
}
constexpr DType plain_dtype(reference::Format format) {
  return static_cast<DType>(static_cast<int>(format) + static_cast<int>(DType::q4_0));
}
static_assert(plain_dtype(reference::Format::q8_k) == DType::q8_k);

// One line: scales, and the first `count` codes and values; of a packed block, its first row.
std::string describe_block(DType dtype, const std::uint8_t* bytes, std::int64_t count);
// The whole block: a line for each run of elements under one scale, with its codes and values; a packed block row by row.
std::string block_listing(DType dtype, const std::uint8_t* bytes);

}  // namespace assay
