#include "harness/verdict/generate_input.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "reference/block_packing.h"

namespace assay {
namespace {

Array generate_dense(DType dtype, const std::vector<std::int64_t>& shape, const Distribution& distribution, std::uint64_t seed,
                     std::uint32_t stream) {
  Array array;
  array.dtype = dtype;
  array.shape = shape;
  array.bytes.resize(static_cast<std::size_t>(array.elements()) * dtype_size(dtype));
  generate(distribution, seed, stream, dtype, array.elements(), array.bytes.data());
  return array;
}

// Plain blocks of all rows, packed by the reference. Rows past n are random too: they must count nowhere.
Array generate_packed(const TensorSpec& spec, const Distribution& distribution, std::uint64_t seed, std::uint32_t stream) {
  const DType format = plain_dtype(spec.dtype);
  const std::int64_t rows = spec.shape[0] * kPackedRows;
  Array array = generate_dense(format, {rows, spec.shape[1]}, distribution, seed, stream);
  array.bytes = reference::pack_x16(format, array.bytes.data(), rows, spec.shape[1] * dtype_numbers(spec.dtype));
  array.dtype = spec.dtype;
  array.shape = spec.shape;
  return array;
}

}  // namespace

// Exponents that leave room for the products and sums of an op.
Distribution distribution_for(const TensorSpec& spec, const std::string& name) {
  if (spec.data) return *spec.data;
  if (is_block(spec.dtype)) {
    constexpr std::array<std::string_view, 4> kOfBlocks{"bits", "wide", "denormal", "zeros"};
    return {std::find(kOfBlocks.begin(), kOfBlocks.end(), name) == kOfBlocks.end() ? "blocks" : name};
  }
  if (name == "wide") return spec.dtype == DType::f16 ? Distribution{name, 1, -14, 14} : Distribution{name, 1, -20, 20};
  return {name};
}

Array generate_input(const TensorSpec& spec, const Distribution& distribution, std::uint64_t seed, std::uint32_t stream) {
  return is_packed(spec.dtype) ? generate_packed(spec, distribution, seed, stream)
                               : generate_dense(spec.dtype, spec.shape, distribution, seed, stream);
}

}  // namespace assay
