// Element types of tensors in goldens, traces and calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace assay {

// An element of a block type is one block, so shapes and strides count blocks; of an _x16 type, one block of sixteen rows.
enum class DType : std::uint8_t {
#define ASSAY_DTYPE(name, bytes, alignment, numbers, plain) name,
#include "golden/dtype.inc"
#undef ASSAY_DTYPE
};

struct DTypeInfo {
  std::string_view name;
  std::size_t size;
  std::size_t alignment;
  std::int64_t numbers;
  DType plain;
};

// In the order of DType.
inline constexpr DTypeInfo kDTypes[] = {
#define ASSAY_DTYPE(name, bytes, alignment, numbers, plain) {#name, bytes, alignment, numbers, DType::plain},
#include "golden/dtype.inc"
#undef ASSAY_DTYPE
};

// Rows that lie interleaved: of blocks in a packed type, of numbers in tile-major weights.
inline constexpr std::int64_t kPackedRows = 16;
inline constexpr std::int64_t kTileRows = 32;

constexpr const DTypeInfo& dtype_info(DType dtype) noexcept {
  return kDTypes[static_cast<std::size_t>(dtype)];
}
// Bytes of an element.
constexpr std::size_t dtype_size(DType dtype) noexcept {
  return dtype_info(dtype).size;
}
constexpr std::size_t dtype_alignment(DType dtype) noexcept {
  return dtype_info(dtype).alignment;
}
// Numbers in a row of an element: 32 or 256 for blocks, else 1.
constexpr std::int64_t dtype_numbers(DType dtype) noexcept {
  return dtype_info(dtype).numbers;
}
constexpr std::string_view dtype_name(DType dtype) noexcept {
  return dtype_info(dtype).name;
}
// Whether an element is a number of a type that kernels compute in.
constexpr bool is_float(DType dtype) noexcept {
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}
constexpr bool is_block(DType dtype) noexcept {
  return dtype_numbers(dtype) > 1;
}
// The type of a packed type's rows; any other type itself.
constexpr DType plain_dtype(DType dtype) noexcept {
  return dtype_info(dtype).plain;
}
constexpr bool is_packed(DType dtype) noexcept {
  return plain_dtype(dtype) != dtype;
}
// The type whose rows are `plain`; nothing: it has no packed layout.
constexpr std::optional<DType> packed_dtype(DType plain) noexcept {
  for (std::size_t i = 0; i < std::size(kDTypes); ++i) {
    if (const auto dtype = static_cast<DType>(i); is_packed(dtype) && plain_dtype(dtype) == plain) return dtype;
  }
  return std::nullopt;
}
constexpr std::optional<DType> dtype_from_name(std::string_view name) noexcept {
  for (std::size_t i = 0; i < std::size(kDTypes); ++i) {
    if (kDTypes[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

// The value of one element as fp64 (exact for all but i64 beyond 2^53); NaN for a block, which is no number.
double element_as_double(DType dtype, const void* element) noexcept;

}  // namespace assay
