#include "reference/blocks.h"

#include <cstring>

#include "reference/decode.h"

namespace assay::reference {
namespace {

double half_at(const std::uint8_t* bytes) {
  return Half::decode(static_cast<std::uint32_t>(bytes[0] | bytes[1] << 8));
}

std::uint32_t word_at(const std::uint8_t* bytes) {
  std::uint32_t word = 0;
  for (int i = 3; i >= 0; --i) word = word << 8 | bytes[i];
  return word;
}

// 32 codes of 4 bits: element j in the low nibble of byte j, j + 16 in the high one; high: a fifth bit each.
void read_nibbles(const std::uint8_t* qs, std::uint32_t high, int offset, Block& block) {
  for (std::size_t j = 0; j < 32; ++j) {
    const int nibble = j < 16 ? qs[j] & 15 : qs[j - 16] >> 4;
    block.code[j] = nibble + static_cast<int>((high >> j & 1) << 4) - offset;
  }
}

// w = d code (q4_0, q5_0), d code + m (q4_1, q5_1).
void read_small(Format format, const std::uint8_t* bytes, Block& block) {
  block.d = half_at(bytes);
  if (block.has_min) {
    block.dmin = -half_at(bytes + 2);
    block.min.fill(1);
    bytes += 2;
  }
  const bool five = format == Format::q5_0 || format == Format::q5_1;
  read_nibbles(bytes + (five ? 6 : 2), five ? word_at(bytes + 2) : 0, info(format).offset, block);
}

int signed_byte(std::uint8_t byte) {
  return byte < 128 ? byte : byte - 256;
}

// 32 or 256 signed bytes.
void read_signed_codes(const std::uint8_t* qs, Block& block) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(block.elements); ++i) block.code[i] = signed_byte(qs[i]);
}

// The 6-bit scale and minimum of sub-block j out of 12 bytes.
struct SixBits {
  int scale;
  int min;
};
SixBits six_bits(const std::uint8_t* b, int j) {
  if (j < 4) return {b[j] & 63, b[j + 4] & 63};
  return {(b[j + 4] & 15) | (b[j - 4] >> 6) << 4, (b[j + 4] >> 4) | (b[j] >> 6) << 4};
}

// q4_k: d, dmin, 12 bytes of scales, 128 of nibbles (64 elements in 32 bytes, the first 32 low). q5_k has 32 bytes of fifth
// bits before the nibbles: bit j of byte i is element i of sub-block j.
void read_k(bool five, const std::uint8_t* bytes, Block& block) {
  block.d = half_at(bytes);
  block.dmin = half_at(bytes + 2);
  const std::uint8_t* high = bytes + 16;
  const std::uint8_t* qs = bytes + (five ? 48 : 16);
  for (int j = 0; j < 8; ++j) {
    const SixBits six = six_bits(bytes + 4, j);
    for (int i = 0; i < 32; ++i) {
      const std::size_t element = std::size_t{32} * static_cast<unsigned>(j) + static_cast<unsigned>(i);
      const int byte = qs[j / 2 * 32 + i];
      block.code[element] = (j % 2 == 0 ? byte & 15 : byte >> 4) + (five ? (high[i] >> j & 1) << 4 : 0);
      block.scale[element] = six.scale;
      block.min[element] = six.min;
    }
  }
}

// In each half of 128: quarter q (0..3) of 32 elements takes nibble q / 2 of low byte i + 32 (q % 2), bits 2 q of high byte i.
void read_q6_k(const std::uint8_t* bytes, Block& block) {
  block.d = half_at(bytes + 208);
  for (int element = 0; element < 256; ++element) {
    const int half = element / 128, quarter = element % 128 / 32, i = element % 32;
    const int low = bytes[64 * half + 32 * (quarter % 2) + i] >> (quarter / 2 * 4) & 15;
    const int high = bytes[128 + 32 * half + i] >> (2 * quarter) & 3;
    block.code[static_cast<std::size_t>(element)] = (low | high << 4) - 32;
    block.scale[static_cast<std::size_t>(element)] = signed_byte(bytes[192 + element / 16]);
  }
}

}  // namespace

Block read_block(Format format, const std::uint8_t* bytes) {
  Block block;
  block.has_min = info(format).has_min;
  block.elements = static_cast<int>(dtype_numbers(format));
  block.scale.fill(1);
  switch (format) {
    case Format::q4_0:
    case Format::q4_1:
    case Format::q5_0:
    case Format::q5_1:
      read_small(format, bytes, block);
      break;
    case Format::q8_0:
      block.d = half_at(bytes);
      read_signed_codes(bytes + 2, block);
      break;
    case Format::q4_k:
    case Format::q5_k:
      read_k(format == Format::q5_k, bytes, block);
      break;
    case Format::q6_k:
      read_q6_k(bytes, block);
      break;
    case Format::q8_k:
      block.d = Single::decode(word_at(bytes));
      read_signed_codes(bytes + 4, block);
      break;
    default:  // info() has thrown
      break;
  }
  return block;
}

std::vector<float> decode(Format format, const void* blocks, std::int64_t n) {
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(n));
  const auto* bytes = static_cast<const std::uint8_t*>(blocks);
  for (std::int64_t first = 0; first < n; first += dtype_numbers(format), bytes += dtype_size(format)) {
    const Block block = read_block(format, bytes);
    for (int i = 0; i < block.elements; ++i) values.push_back(static_cast<float>(block.value(i)));
  }
  return values;
}

}  // namespace assay::reference
