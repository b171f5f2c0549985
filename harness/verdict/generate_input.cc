#include "harness/verdict/generate_input.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "reference/block_packing.h"

namespace assay {
namespace {

constexpr std::int64_t kLongRow = 1024;
constexpr std::int64_t kLoud = 24;  // numbers at the end of one: a vector and a tail
constexpr int kQuieter = 8;         // powers of two, of the others
constexpr std::uint32_t kLoudStream = 1 << 16;

bool is_long(DType dtype, const std::vector<std::int64_t>& shape) {
  return !is_block(dtype) && !shape.empty() && shape.back() > kLongRow;
}

// The same distribution with smaller numbers; none: it is about what the numbers are.
std::optional<Distribution> quieter(Distribution distribution) {
  distribution.scale = std::ldexp(distribution.scale, -kQuieter);
  distribution.low -= kQuieter;
  distribution.high -= kQuieter;
  constexpr std::array<std::string_view, 5> kReal{"gauss", "positive", "uniform", "wide", "edges"};
  return std::ranges::find(kReal, distribution.name) == kReal.end() ? std::nullopt : std::optional(distribution);
}

void make_ends_loud(Array& array, const Distribution& distribution, std::uint64_t seed, std::uint32_t stream) {
  const std::int64_t row = array.shape.back();
  const std::size_t size = dtype_size(array.dtype);
  std::vector<std::uint8_t> loud(kLoud * size);
  for (std::int64_t end = row; end <= array.elements(); end += row) {
    if (end < 3 * row)
      generate(distribution, seed, stream + kLoudStream + static_cast<std::uint32_t>(end / row), array.dtype, kLoud, loud.data());
    std::memcpy(&array.bytes[static_cast<std::size_t>(end - kLoud) * size], loud.data(), loud.size());
  }
}

Array generate_dense(DType dtype, const std::vector<std::int64_t>& shape, const Distribution& distribution, std::uint64_t seed,
                     std::uint32_t stream, std::int64_t period) {
  Array array;
  array.dtype = dtype;
  array.shape = shape;
  array.bytes.resize(static_cast<std::size_t>(array.elements()) * dtype_size(dtype));
  const std::int64_t made = period > 0 ? std::min(period, array.elements()) : array.elements();
  const std::optional<Distribution> quiet = period > 0 && is_long(dtype, shape) ? quieter(distribution) : std::nullopt;
  generate(quiet.value_or(distribution), seed, stream, dtype, made, array.bytes.data());
  const std::size_t first = static_cast<std::size_t>(made) * dtype_size(dtype);
  for (std::size_t at = first; at < array.bytes.size(); at += first) {
    std::memcpy(&array.bytes[at], array.bytes.data(), std::min(first, array.bytes.size() - at));
  }
  if (quiet) make_ends_loud(array, distribution, seed, stream);
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

std::int64_t data_period(DType dtype) {
  return is_block(dtype) ? 4093 : 65521;
}

bool has_long_rows(const TensorSpec& spec) {
  return is_long(spec.dtype, spec.shape);
}

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
