// Element types of tensors in goldens, traces and calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay {

enum class DType : std::uint8_t { f32, f16, bf16, f64, i32, i64, u8 };

std::size_t dtype_size(DType dtype) noexcept;
std::string_view dtype_name(DType dtype) noexcept;
std::optional<DType> dtype_from_name(std::string_view name) noexcept;

// The value of one element as fp64 (exact for all but i64 beyond 2^53).
double element_as_double(DType dtype, const void* element) noexcept;

}  // namespace assay
