// How a stored matrix lies in memory when kernels multiply with it, and what its kernels take for activations.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "golden/dtype.h"
#include "reference/ops/op.h"

namespace assay {

struct WeightLayout {
  DType stored;
  DType weights;      // as the products' rows have it: q4_k_x16, q4_k, f16
  DType activations;  // of a buffer's rows: f32, q8_0, q8_k
  const Op* pack;     // null: as stored
  const Op* gemv;
  const Op* gemm;
  std::int64_t group;  // rows that lie interleaved; a matrix is cut among threads at multiples of it

  std::string name() const;  // "q4_k_x16", "f16_tile"
  // Of one group; the last one is padded to the whole.
  std::int64_t group_bytes(std::int64_t cols) const {
    return group * cols / dtype_numbers(stored) * static_cast<std::int64_t>(dtype_size(stored));
  }
  std::int64_t groups(std::int64_t rows) const { return (rows + group - 1) / group; }
  std::int64_t bytes(std::int64_t rows, std::int64_t cols) const { return groups(rows) * group_bytes(cols); }
};

// The layout for each stored type that has kernels: packed where there is a packing and products with it. nullptr where no kernel
// multiplies with the type.
const WeightLayout* find_weight_layout(DType stored);
// Rows of blocks as they are stored, for an op that quantises its activations itself (it is gemv and gemm); nullptr for types
// without such an op.
const WeightLayout* find_plain_layout(DType stored);
// "f32, f16, bf16, q4_0, ...", for messages.
std::string multiplied_types();

// Stored rows first_group * group .. into the layout. `src` is the matrix's beginning, `dst` that of its packed form; groups are
// independent of each other. Throws std::logic_error where a kernel refuses.
void pack_groups(const WeightLayout& layout, const std::uint8_t* src, std::uint8_t* dst, std::int64_t rows, std::int64_t cols,
                 std::int64_t first_group, std::int64_t last_group);

}  // namespace assay
