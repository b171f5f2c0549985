#include "engine/files/gguf_types.h"

#include <array>

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

constexpr std::array<GgufTensorType, 34> kTensorTypes{{{0, "F32", DType::f32},
                                                       {1, "F16", DType::f16},
                                                       {2, "Q4_0", DType::q4_0},
                                                       {3, "Q4_1", DType::q4_1},
                                                       {6, "Q5_0", DType::q5_0},
                                                       {7, "Q5_1", DType::q5_1},
                                                       {8, "Q8_0", DType::q8_0},
                                                       {9, "Q8_1", {}},
                                                       {10, "Q2_K", {}},
                                                       {11, "Q3_K", {}},
                                                       {12, "Q4_K", DType::q4_k},
                                                       {13, "Q5_K", DType::q5_k},
                                                       {14, "Q6_K", DType::q6_k},
                                                       {15, "Q8_K", {}},
                                                       {16, "IQ2_XXS", {}},
                                                       {17, "IQ2_XS", {}},
                                                       {18, "IQ3_XXS", {}},
                                                       {19, "IQ1_S", {}},
                                                       {20, "IQ4_NL", {}},
                                                       {21, "IQ3_S", {}},
                                                       {22, "IQ2_S", {}},
                                                       {23, "IQ4_XS", {}},
                                                       {24, "I8", {}},
                                                       {25, "I16", {}},
                                                       {26, "I32", {}},
                                                       {27, "I64", {}},
                                                       {28, "F64", {}},
                                                       {29, "IQ1_M", {}},
                                                       {30, "BF16", DType::bf16},
                                                       {34, "TQ1_0", {}},
                                                       {35, "TQ2_0", {}},
                                                       {39, "MXFP4", {}},
                                                       {40, "NVFP4", {}},
                                                       {41, "Q1_0", {}}}};

}  // namespace

std::string_view gguf_type_name(GgufType type) noexcept {
  return kValueTypes[static_cast<std::size_t>(type)].name;
}

std::size_t gguf_type_size(GgufType type) noexcept {
  return kValueTypes[static_cast<std::size_t>(type)].size;
}

const GgufTensorType* find_gguf_tensor_type(std::uint32_t number) noexcept {
  for (const GgufTensorType& type : kTensorTypes) {
    if (type.number == number) return &type;
  }
  return nullptr;
}

std::optional<std::uint32_t> gguf_tensor_type(DType dtype) noexcept {
  for (const GgufTensorType& type : kTensorTypes) {
    if (type.dtype == dtype) return type.number;
  }
  return std::nullopt;
}

}  // namespace assay
