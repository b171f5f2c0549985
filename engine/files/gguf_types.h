// The tables of GGUF's numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/files/gguf.h"

namespace assay {

// What a tensor type's number means here; nothing for the types that no kernel reads.
std::optional<DType> gguf_dtype(std::uint32_t number) noexcept;
// The name of such a type; empty for a number that no version of the format has.
std::string_view foreign_gguf_type(std::uint32_t number) noexcept;

}  // namespace assay
