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

// The row that is summed over, and of how many numbers each of its elements is one: of values, a head's dimensions.
struct SummedRow {
  std::int64_t length = 0;
  std::int64_t each = 1;
};
SummedRow row_of(const std::vector<std::int64_t>& shape, std::size_t summed) {
  if (shape.size() < summed) return {};
  SummedRow row{shape[shape.size() - summed]};
  for (std::size_t d = shape.size() - summed + 1; d < shape.size(); ++d) row.each *= shape[d];
  return row;
}

bool is_long(DType dtype, const SummedRow& row) {
  return !is_block(dtype) && row.length > kLongRow;
}

// The same distribution with smaller numbers; none: it is about what the numbers are.
std::optional<Distribution> quieter(Distribution distribution) {
  distribution.scale = std::ldexp(distribution.scale, -kQuieter);
  distribution.low -= kQuieter;
  distribution.high -= kQuieter;
  constexpr std::array<std::string_view, 5> kReal{"gauss", "positive", "uniform", "wide", "edges"};
  return std::ranges::find(kReal, distribution.name) == kReal.end() ? std::nullopt : std::optional(distribution);
}

void make_ends_loud(Array& array, const SummedRow& row, const Distribution& distribution, std::uint64_t seed,
                    std::uint32_t stream) {
  const std::int64_t numbers = row.length * row.each;
  const std::int64_t count = kLoud * row.each;
  const std::size_t size = dtype_size(array.dtype);
  std::vector<std::uint8_t> loud(static_cast<std::size_t>(count) * size);
  for (std::int64_t end = numbers; end <= array.elements(); end += numbers) {
    if (end < 3 * numbers)
      generate(distribution, seed, stream + kLoudStream + static_cast<std::uint32_t>(end / numbers), array.dtype, count,
               loud.data());
    std::memcpy(&array.bytes[static_cast<std::size_t>(end - count) * size], loud.data(), loud.size());
  }
}

Array generate_dense(DType dtype, const std::vector<std::int64_t>& shape, std::size_t summed, const Distribution& distribution,
                     std::uint64_t seed, std::uint32_t stream, std::int64_t period) {
  Array array;
  array.dtype = dtype;
  array.shape = shape;
  array.bytes.resize(static_cast<std::size_t>(array.elements()) * dtype_size(dtype));
  const std::int64_t made = period > 0 ? std::min(period, array.elements()) : array.elements();
  const SummedRow row = row_of(shape, summed);
  const std::optional<Distribution> quiet = period > 0 && is_long(dtype, row) ? quieter(distribution) : std::nullopt;
  generate(quiet.value_or(distribution), seed, stream, dtype, made, array.bytes.data());
  const std::size_t first = static_cast<std::size_t>(made) * dtype_size(dtype);
  for (std::size_t at = first; at < array.bytes.size(); at += first) {
    std::memcpy(&array.bytes[at], array.bytes.data(), std::min(first, array.bytes.size() - at));
  }
  if (quiet) make_ends_loud(array, row, distribution, seed, stream);
  return array;
}

// Plain blocks of all rows, packed by the reference. Rows past n are random too: they must count nowhere.
Array generate_packed(const TensorSpec& spec, const Distribution& distribution, std::uint64_t seed, std::uint32_t stream,
                      std::int64_t period) {
  const DType format = plain_dtype(spec.dtype);
  const std::int64_t rows = spec.shape[0] * kPackedRows;
  Array array = generate_dense(format, {rows, spec.shape[1]}, 1, distribution, seed, stream, period);
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
  return is_long(spec.dtype, row_of(spec.shape, spec.summed));
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
                               : generate_dense(spec.dtype, spec.shape, spec.summed, distribution, seed, stream, period);
}

}  // namespace assay
