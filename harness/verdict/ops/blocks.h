// What the adapters of block-quantised ops share.
#pragma once

#include "harness/verdict/block_format.h"
#include "harness/verdict/ops/bind.h"
#include "reference/bounds.h"

namespace assay {

using reference::Format;

// The projections of Qwen3-0.6B that bench and peers are measured at: rows, columns.
inline constexpr std::int64_t kBlockBenchShapes[3][2] = {{3072, 1024}, {1024, 3072}, {151936, 1024}};

// Blocks that cover `numbers`. A length that is no whole number of blocks is the kernel's to refuse.
inline std::int64_t blocks_of(DType dtype, std::int64_t numbers) {
  return reference::ceil_div(numbers, dtype_numbers(dtype));
}

inline bool whole_blocks(DType dtype, std::int64_t numbers) {
  return numbers % dtype_numbers(dtype) == 0;
}

// Rows of a weight tensor: of blocks, or of blocks of sixteen rows.
inline std::int64_t weight_rows(DType dtype, std::int64_t n) {
  return is_packed(dtype) ? reference::ceil_div(n, kPackedRows) : n;
}

inline std::int64_t rows_a_block(DType dtype) {
  return is_packed(dtype) ? kPackedRows : 1;
}

inline double bytes_of(DType dtype, std::int64_t elements) {
  return static_cast<double>(dtype_size(dtype)) * static_cast<double>(elements);
}

}  // namespace assay
