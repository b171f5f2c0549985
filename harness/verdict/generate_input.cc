#include "harness/verdict/generate_input.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "reference/block_packing.h"

namespace assay {
namespace {

Array generate_dense(DType dtype, const std::vector<std::int64_t>& shape, const Distribution& distribution, std::uint64_t seed,
                     std::uint32_t stream, std::int64_t period) {
  Array array;
  array.dtype = dtype;
  array.shape = shape;
  array.bytes.resize(static_cast<std::size_t>(array.elements()) * dtype_size(dtype));
  const std::int64_t made = period > 0 ? std::min(period, array.elements()) : array.elements();
  generate(distribution, seed, stream, dtype, made, array.bytes.data());
  const std::size_t first = static_cast<std::size_t>(made) * dtype_size(dtype);
  for (std::size_t at = first; at < array.bytes.size(); at += first) {
    std::memcpy(&array.bytes[at], array.bytes.data(), std::min(first, array.bytes.size() - at));
  }
  return array;
}

// Plain blocks of all rows, packed by the reference. Rows past n are random too: they must count nowhere.
Array generate_packed(const TensorSpec& spec, const Distribution& distribution, std::uint64_t seed, std::uint32_t stream,
                      std::int64_t period) {
  const DType format = plain_dtype(spec.dtype);
  const std::int64_t rows = spec.shape[0] * kPackedRows;
  Array array = generate_dense(format, {rows, spec.shape[1]}, distribution, seed, stream, period);
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
  const bool half = spec.dtype == DType::f16;
  if (name == "underflow") return half ? Distribution{"denormal"} : Distribution{"wide", 1, -80, -70};
  if (name == "edges") return half ? Distribution{name, 1, -7, 7} : Distribution{name, 1, -20, 20};
  if (name == "wide") return half ? Distribution{name, 1, -14, 14} : Distribution{name, 1, -20, 20};
  return {name};
}

Array generate_input(const TensorSpec& spec, const Distribution& distribution, std::uint64_t seed, std::uint32_t stream,
                     std::int64_t period) {
  return is_packed(spec.dtype) ? generate_packed(spec, distribution, seed, stream, period)
                               : generate_dense(spec.dtype, spec.shape, distribution, seed, stream, period);
}

}  // namespace assay
