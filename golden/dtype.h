// Element types of tensors in goldens, traces and calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay {

// An element of a block type is one block, so shapes and strides count blocks; of an _x16 type, one block of sixteen rows.
enum class DType : std::uint8_t {
  f32,
  f16,
  bf16,
  f64,
  i32,
  i64,
  u8,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q4_k,
  q5_k,
  q6_k,
  q8_k,
  q4_k_x16,
  q6_k_x16,
  q8_0_x16
};

std::size_t dtype_size(DType dtype) noexcept;       // bytes of an element
std::size_t dtype_alignment(DType dtype) noexcept;  // that of its widest field
// Numbers in a row of an element: 32 or 256 for blocks, else 1.
std::int64_t dtype_numbers(DType dtype) noexcept;
bool is_block(DType dtype) noexcept;
std::string_view dtype_name(DType dtype) noexcept;
std::optional<DType> dtype_from_name(std::string_view name) noexcept;

// The value of one element as fp64 (exact for all but i64 beyond 2^53); NaN for a block, which is no number.
double element_as_double(DType dtype, const void* element) noexcept;

}  // namespace assay
