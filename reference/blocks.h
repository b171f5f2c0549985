// Blocks of quantised formats out of their raw bytes, from the formats' definitions (docs/formats.md).
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "golden/dtype.h"

namespace assay::reference {

// A block type of plain rows: its name, bytes and elements stand in golden/dtype.inc.
using Format = DType;

struct FormatInfo {
  Format format;
  bool has_min;      // w = d scale code - dmin min
  bool half_scales;  // d is f16 and there are no others, so that a product of two such d is exact in fp32
  int offset;        // what a stored code is too large by
};

inline constexpr FormatInfo kFormatInfos[] = {
    {Format::q4_0, false, true, 8}, {Format::q4_1, true, true, 0},    {Format::q5_0, false, true, 16},
    {Format::q5_1, true, true, 0},  {Format::q8_0, false, true, 0},   {Format::q4_k, true, false, 0},
    {Format::q5_k, true, false, 0}, {Format::q6_k, false, false, 32}, {Format::q8_k, false, false, 0}};

// Throws std::invalid_argument for what is no block type of plain rows.
constexpr const FormatInfo& info(Format format) {
  for (const FormatInfo& row : kFormatInfos) {
    if (row.format == format) return row;
  }
  throw std::invalid_argument(std::string(dtype_name(format)) + " is no block format");
}

constexpr std::int64_t block_bytes(Format format) {
  return static_cast<std::int64_t>(dtype_size(format));
}

// One block: element i is d scale[i] code[i] - dmin min[i]. Codes have their offset taken off.
struct Block {
  double d = 0;
  double dmin = 0;  // q4_1, q5_1: -m, with min[i] = 1
  bool has_min = false;
  int elements = 0;
  std::array<std::int32_t, 256> code{};
  std::array<std::int32_t, 256> scale{};
  std::array<std::int32_t, 256> min{};

  // Exact but for q8_k's d of 24 bits, whose product with a code is exact too: at most 53 bits in each format. The order of
  // the factors gives a zero the sign that the definition gives it.
  double value(int i) const {
    const auto at = static_cast<std::size_t>(i);
    const double product = d * scale[at] * code[at];
    return has_min ? product - dmin * min[at] : product;
  }
};

Block read_block(Format format, const std::uint8_t* bytes);

// The f32 values of n elements: each the exact value, rounded once.
std::vector<float> decode(Format format, const void* blocks, std::int64_t n);

}  // namespace assay::reference
