// A matrix from the type of its source to the type that it is stored in, by the project's kernels.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>

#include "engine/threads.h"
#include "golden/dtype.h"

namespace assay {

// A row that cannot be stored; what() says why.
struct RowError : std::runtime_error {
  RowError(std::int64_t which, const std::string& why) : std::runtime_error(why), row(which) {}
  std::int64_t row;
};

// src: rows * cols numbers of type `from` (f32, f16 or bf16), dst: the same rows in type `to` (one of those, or blocks that
// an op encodes), both dense and aligned for their types, no overlap. cols: whole blocks. Rows are cut among the team's threads;
// the bytes do not depend on their number. Throws RowError for NaN, infinity, and numbers beyond the range of `to` (of its
// scales, where it has them), and std::logic_error for other types or spans of another size.
void encode_rows(DType from, DType to, std::int64_t rows, std::int64_t cols, std::span<const std::uint8_t> src,
                 std::span<std::uint8_t> dst, Team& team);

}  // namespace assay
