// How a stored matrix lies in memory when kernels multiply with it, and what its kernels take for activations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "golden/dtype.h"
#include "kernels/dispatch.h"

namespace assay {

struct WeightLayout {
  DType stored;
  WeightType type;
  ActivationType activations;
  std::int64_t group;  // rows that lie interleaved; a matrix is cut among threads at multiples of it

  // Of one group; the last one is padded to the whole.
  std::int64_t group_bytes(std::int64_t cols) const {
    return group * cols / dtype_numbers(stored) * static_cast<std::int64_t>(dtype_size(stored));
  }
  std::int64_t groups(std::int64_t rows) const { return (rows + group - 1) / group; }
  std::int64_t bytes(std::int64_t rows, std::int64_t cols) const { return groups(rows) * group_bytes(cols); }
};

// The layout for each stored type that has kernels: the fastest that there is.
std::span<const WeightLayout> weight_layouts();
// nullptr where no kernel multiplies with the type.
const WeightLayout* find_weight_layout(DType stored);
// Rows of blocks as they are stored, for a step that quantises its activations itself; nullptr for types without such an op.
const WeightLayout* find_plain_layout(DType stored);
// "f32, f16, bf16, q4_0, ...", for messages.
std::string multiplied_types();

// The type of a row of activations in a buffer; and numbers in one of its elements.
DType activation_dtype(ActivationType type);

// Stored rows first_group * group .. into the layout. `src` is the matrix's beginning, `dst` that of its packed form; groups are
// independent of each other. Throws std::logic_error where a kernel refuses.
void pack_groups(const WeightLayout& layout, const std::uint8_t* src, std::uint8_t* dst, std::int64_t rows, std::int64_t cols,
                 std::int64_t first_group, std::int64_t last_group);

}  // namespace assay
