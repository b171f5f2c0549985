// Blocks of quantised formats out of their raw bytes, from the formats' definitions (docs/formats.md).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace assay::reference {

enum class Format : std::uint8_t { q4_0, q4_1, q5_0, q5_1, q8_0, q4_k, q5_k, q6_k, q8_k };

struct FormatInfo {
  const char* name;
  int elements;  // of a block
  int bytes;
  bool has_min;      // w = d scale code - dmin min
  bool half_scales;  // d is f16 and there are no others, so that a product of two such d is exact in fp32
};
const FormatInfo& info(Format format);

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
