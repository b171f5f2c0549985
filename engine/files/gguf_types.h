// The tables of GGUF's numbers.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/files/gguf.h"

namespace assay {

// What a tensor type's number means: its element type here, or its name alone where no kernel reads it.
struct GgufTensorType {
  std::uint32_t number;
  std::string_view name;
  std::optional<DType> dtype;
};

// nullptr for a number that no version of the format has.
const GgufTensorType* find_gguf_tensor_type(std::uint32_t number) noexcept;

}  // namespace assay
