#include "kernels/dispatch.h"

#include <vector>

#include "kernels/gemm_bf16/gemm_bf16.h"
#include "kernels/gemm_f16/gemm_f16.h"
#include "kernels/gemm_f32/gemm_f32.h"
#include "kernels/gemm_q4_0_q8_0/gemm_q4_0_q8_0.h"
#include "kernels/gemm_q4_k_f32/gemm_q4_k_f32.h"
#include "kernels/gemm_q4_k_q8_k/gemm_q4_k_q8_k.h"
#include "kernels/gemm_q4_k_x16_q8_k/gemm_q4_k_x16_q8_k.h"
#include "kernels/gemm_q5_0_q8_0/gemm_q5_0_q8_0.h"
#include "kernels/gemm_q5_k_q8_k/gemm_q5_k_q8_k.h"
#include "kernels/gemm_q6_k_q8_k/gemm_q6_k_q8_k.h"
#include "kernels/gemm_q6_k_x16_q8_k/gemm_q6_k_x16_q8_k.h"
#include "kernels/gemm_q8_0_f32/gemm_q8_0_f32.h"
#include "kernels/gemm_q8_0_q8_0/gemm_q8_0_q8_0.h"
#include "kernels/gemm_q8_0_x16_q8_0/gemm_q8_0_x16_q8_0.h"
#include "kernels/gemv_q4_0_q8_0/gemv_q4_0_q8_0.h"
#include "kernels/gemv_q4_k_f32/gemv_q4_k_f32.h"
#include "kernels/gemv_q4_k_q8_k/gemv_q4_k_q8_k.h"
#include "kernels/gemv_q4_k_x16_q8_k/gemv_q4_k_x16_q8_k.h"
#include "kernels/gemv_q5_0_q8_0/gemv_q5_0_q8_0.h"
#include "kernels/gemv_q5_k_q8_k/gemv_q5_k_q8_k.h"
#include "kernels/gemv_q6_k_q8_k/gemv_q6_k_q8_k.h"
#include "kernels/gemv_q6_k_x16_q8_k/gemv_q6_k_x16_q8_k.h"
#include "kernels/gemv_q8_0_f32/gemv_q8_0_f32.h"
#include "kernels/gemv_q8_0_q8_0/gemv_q8_0_q8_0.h"
#include "kernels/gemv_q8_0_x16_q8_0/gemv_q8_0_x16_q8_0.h"
#include "kernels/matvec_bf16/matvec_bf16.h"
#include "kernels/matvec_f16/matvec_f16.h"
#include "kernels/matvec_f32/matvec_f32.h"

namespace assay {
namespace {

constexpr std::string_view kWeightNames[] = {"f32_tile", "f16_tile", "bf16_tile", "q4_0",     "q5_0",     "q8_0",
                                             "q4_k",     "q5_k",     "q6_k",      "q4_k_x16", "q6_k_x16", "q8_0_x16"};
constexpr std::string_view kActivationNames[] = {"f32", "q8_0", "q8_k"};
constexpr std::string_view kProductNames[] = {"gemv", "gemm"};

template <class Type, std::size_t N>
std::optional<Type> find_name(const std::string_view (&names)[N], std::string_view name) noexcept {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Type>(i);
  }
  return std::nullopt;
}

template <class Op>
void append(std::vector<ProductKernel>& table, WeightType weights, ActivationType activations, Product product) {
  for (const Kernel<Op>& kernel : kernels<Op>()) {
    table.push_back({weights, activations, product, kernel.isa, Op::name, kernel.name, reinterpret_cast<void (*)()>(kernel.run)});
  }
}

std::vector<ProductKernel> make_table() {
  std::vector<ProductKernel> table;
  append<MatvecF32>(table, WeightType::f32_tile, ActivationType::f32, Product::gemv);
  append<GemmF32>(table, WeightType::f32_tile, ActivationType::f32, Product::gemm);
  append<MatvecF16>(table, WeightType::f16_tile, ActivationType::f32, Product::gemv);
  append<GemmF16>(table, WeightType::f16_tile, ActivationType::f32, Product::gemm);
  append<MatvecBf16>(table, WeightType::bf16_tile, ActivationType::f32, Product::gemv);
  append<GemmBf16>(table, WeightType::bf16_tile, ActivationType::f32, Product::gemm);
  append<GemvQ40Q80>(table, WeightType::q4_0, ActivationType::q8_0, Product::gemv);
  append<GemmQ40Q80>(table, WeightType::q4_0, ActivationType::q8_0, Product::gemm);
  append<GemvQ50Q80>(table, WeightType::q5_0, ActivationType::q8_0, Product::gemv);
  append<GemmQ50Q80>(table, WeightType::q5_0, ActivationType::q8_0, Product::gemm);
  append<GemvQ80Q80>(table, WeightType::q8_0, ActivationType::q8_0, Product::gemv);
  append<GemmQ80Q80>(table, WeightType::q8_0, ActivationType::q8_0, Product::gemm);
  append<GemvQ80F32>(table, WeightType::q8_0, ActivationType::f32, Product::gemv);
  append<GemmQ80F32>(table, WeightType::q8_0, ActivationType::f32, Product::gemm);
  append<GemvQ4KQ8K>(table, WeightType::q4_k, ActivationType::q8_k, Product::gemv);
  append<GemmQ4KQ8K>(table, WeightType::q4_k, ActivationType::q8_k, Product::gemm);
  append<GemvQ4KF32>(table, WeightType::q4_k, ActivationType::f32, Product::gemv);
  append<GemmQ4KF32>(table, WeightType::q4_k, ActivationType::f32, Product::gemm);
  append<GemvQ5KQ8K>(table, WeightType::q5_k, ActivationType::q8_k, Product::gemv);
  append<GemmQ5KQ8K>(table, WeightType::q5_k, ActivationType::q8_k, Product::gemm);
  append<GemvQ6KQ8K>(table, WeightType::q6_k, ActivationType::q8_k, Product::gemv);
  append<GemmQ6KQ8K>(table, WeightType::q6_k, ActivationType::q8_k, Product::gemm);
  append<GemvQ4KX16Q8K>(table, WeightType::q4_k_x16, ActivationType::q8_k, Product::gemv);
  append<GemmQ4KX16Q8K>(table, WeightType::q4_k_x16, ActivationType::q8_k, Product::gemm);
  append<GemvQ6KX16Q8K>(table, WeightType::q6_k_x16, ActivationType::q8_k, Product::gemv);
  append<GemmQ6KX16Q8K>(table, WeightType::q6_k_x16, ActivationType::q8_k, Product::gemm);
  append<GemvQ80X16Q80>(table, WeightType::q8_0_x16, ActivationType::q8_0, Product::gemv);
  append<GemmQ80X16Q80>(table, WeightType::q8_0_x16, ActivationType::q8_0, Product::gemm);
  return table;
}

std::string pair_name(WeightType weights, ActivationType activations) {
  return std::string(type_name(weights)) + " x " + std::string(type_name(activations));
}

std::string existing_pairs(Product product) {
  std::string pairs;
  const char* op = "";
  for (const ProductKernel& row : product_kernels()) {
    if (row.product != product || std::string_view(row.op) == op) continue;
    op = row.op;
    if (!pairs.empty()) pairs += ", ";
    pairs += pair_name(row.weights, row.activations);
  }
  return pairs;
}

}  // namespace

std::string_view type_name(WeightType type) noexcept {
  return kWeightNames[static_cast<std::size_t>(type)];
}
std::string_view type_name(ActivationType type) noexcept {
  return kActivationNames[static_cast<std::size_t>(type)];
}
std::string_view product_name(Product product) noexcept {
  return kProductNames[static_cast<std::size_t>(product)];
}
std::optional<WeightType> weight_type_from_name(std::string_view name) noexcept {
  return find_name<WeightType>(kWeightNames, name);
}
std::optional<ActivationType> activation_type_from_name(std::string_view name) noexcept {
  return find_name<ActivationType>(kActivationNames, name);
}

std::span<const ProductKernel> product_kernels() {
  static const std::vector<ProductKernel> table = make_table();
  return table;
}

const ProductKernel& find_product(WeightType weights, ActivationType activations, Product product, Isa limit) {
  for (const ProductKernel& row : product_kernels()) {
    if (row.weights != weights || row.activations != activations || row.product != product) continue;
    if (row.isa <= limit && isa_supported(row.isa)) return row;
  }
  throw std::invalid_argument("no " + std::string(product_name(product)) + " of weights x activations " +
                              pair_name(weights, activations) + "; there are: " + existing_pairs(product));
}

const ProductKernel& find_product(WeightType weights, ActivationType activations, Product product) {
  return find_product(weights, activations, product, selected_isa());
}

}  // namespace assay
