// Which kernel multiplies: (weight type, activation type, gemv or gemm, ISA) -> kernel. Asked once, when a weight is loaded;
// never in a token loop.
//
// The layout is part of a weight type's name: q4_k is plain rows of blocks, q4_k_x16 sixteen rows interleaved
// (kernels/formats/packed.h), f16_tile tile-major [ceil(n/32), k, 32].
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kernels/isa.h"
#include "kernels/kernel.h"

namespace assay {

enum class WeightType : std::uint8_t {
  f32_tile,
  f16_tile,
  bf16_tile,
  q4_0,
  q5_0,
  q8_0,
  q4_k,
  q5_k,
  q6_k,
  q4_k_x16,
  q6_k_x16,
  q8_0_x16,
};
enum class ActivationType : std::uint8_t { f32, q8_0, q8_k };
enum class Product : std::uint8_t { gemv, gemm };

std::string_view type_name(WeightType type) noexcept;  // "q4_k_x16"
std::string_view type_name(ActivationType type) noexcept;
std::string_view product_name(Product product) noexcept;
std::optional<WeightType> weight_type_from_name(std::string_view name) noexcept;
std::optional<ActivationType> activation_type_from_name(std::string_view name) noexcept;

// A row of the table: one variant of one op.
struct ProductKernel {
  WeightType weights;
  ActivationType activations;
  Product product;
  Isa isa;
  const char* op;    // "gemv_q4_k_q8_k"
  const char* name;  // "gemv_q4_k_q8_k_avx512vnni"
  void (*run)();     // the function with its type taken off: product_kernel<Op>() gives it back
};

// Every variant of every op that multiplies; those of one op stand together, best ISA first, scalar last.
std::span<const ProductKernel> product_kernels();

// The best variant not above `limit` that this CPU runs. Throws std::invalid_argument for a pair that has no kernel; the message
// lists the pairs that have.
const ProductKernel& find_product(WeightType weights, ActivationType activations, Product product, Isa limit);

// Within selected_isa().
const ProductKernel& find_product(WeightType weights, ActivationType activations, Product product);

// The typed function of a row. Throws std::logic_error unless the row is one of Op's.
template <class Op>
KernelFn<Op> product_kernel(const ProductKernel& row) {
  if (std::string_view(row.op) != Op::name) throw std::logic_error(std::string(row.name) + " is no variant of " + Op::name);
  return reinterpret_cast<KernelFn<Op>>(row.run);
}

}  // namespace assay
