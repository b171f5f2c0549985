#include "engine/files/gguf_types.h"

#include <array>

#include "engine/files/stored_types.h"

namespace assay {
namespace {

struct ValueType {
  std::string_view name;
  std::size_t size;
};

// In the order of GgufType.
constexpr std::array<ValueType, 13> kValueTypes{{{"u8", 1},
                                                 {"i8", 1},
                                                 {"u16", 2},
                                                 {"i16", 2},
                                                 {"u32", 4},
                                                 {"i32", 4},
                                                 {"f32", 4},
                                                 {"bool", 1},
                                                 {"string", 0},
                                                 {"array", 0},
                                                 {"u64", 8},
                                                 {"i64", 8},
                                                 {"f64", 8}}};
static_assert(kValueTypes.size() == static_cast<std::size_t>(GgufType::f64) + 1);

struct ForeignType {
  std::uint32_t number;
  std::string_view name;
};

// Those of the format that the project has no kernels for.
constexpr ForeignType kForeignTypes[] = {
    {9, "Q8_1"},    {10, "Q2_K"},  {11, "Q3_K"},  {15, "Q8_K"},   {16, "IQ2_XXS"}, {17, "IQ2_XS"}, {18, "IQ3_XXS"}, {19, "IQ1_S"},
    {20, "IQ4_NL"}, {21, "IQ3_S"}, {22, "IQ2_S"}, {23, "IQ4_XS"}, {24, "I8"},      {25, "I16"},    {26, "I32"},     {27, "I64"},
    {28, "F64"},    {29, "IQ1_M"}, {34, "TQ1_0"}, {35, "TQ2_0"},  {39, "MXFP4"},   {40, "NVFP4"},  {41, "Q1_0"}};

}  // namespace

std::string_view gguf_type_name(GgufType type) noexcept {
  return kValueTypes[static_cast<std::size_t>(type)].name;
}

std::size_t gguf_type_size(GgufType type) noexcept {
  return kValueTypes[static_cast<std::size_t>(type)].size;
}

std::optional<DType> gguf_dtype(std::uint32_t number) noexcept {
  for (const StoredType& type : kStoredTypes) {
    if (type.gguf == static_cast<std::int64_t>(number)) return type.dtype;
  }
  return std::nullopt;
}

std::string_view foreign_gguf_type(std::uint32_t number) noexcept {
  for (const ForeignType& type : kForeignTypes) {
    if (type.number == number) return type.name;
  }
  return {};
}

std::optional<std::uint32_t> gguf_tensor_type(DType dtype) noexcept {
  for (const StoredType& type : kStoredTypes) {
    if (type.dtype == dtype && type.gguf >= 0) return static_cast<std::uint32_t>(type.gguf);
  }
  return std::nullopt;
}

}  // namespace assay
