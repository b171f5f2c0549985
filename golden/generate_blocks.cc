#include "golden/generate_blocks.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "golden/words.h"

namespace assay {
namespace {

// What becomes of the exponent field of a scale.
enum class Scales { as_they_are, sane, wide, denormal };

struct Recipe {
  std::string_view name;
  Scales scales;
  bool activations;  // q8_0: no code -128
};

constexpr std::array<Recipe, 5> kRecipes{{{"bits", Scales::as_they_are, false},
                                          {"blocks", Scales::sane, false},
                                          {"activations", Scales::sane, true},
                                          {"wide", Scales::wide, false},
                                          {"denormal", Scales::denormal, false}}};

// 2^-12 .. 2^-5 (sane), 2^-14 .. 2^15 (wide), with `bias` that of the format; `field` is the random exponent field,
// `bits` wide.
std::uint32_t exponent_of(Scales scales, std::uint32_t field, unsigned bits, std::uint32_t bias) {
  if (scales == Scales::denormal) return 0;
  if (scales == Scales::sane) return bias - 12 + (field & 7);
  return bias - 14 + ((field * 30) >> bits);
}

template <class Word>
void set_exponent(std::uint8_t* at, Scales scales, unsigned mantissa_bits, unsigned exponent_bits) {
  if (scales == Scales::as_they_are) return;
  Word word;
  std::memcpy(&word, at, sizeof word);
  const std::uint32_t mask = (1U << exponent_bits) - 1;
  const std::uint32_t field = exponent_of(scales, (word >> mantissa_bits) & mask, exponent_bits, mask >> 1);
  word = static_cast<Word>((word & ~(mask << mantissa_bits)) | field << mantissa_bits);
  std::memcpy(at, &word, sizeof word);
}

void raise_lowest_codes(std::uint8_t* codes, int count) {
  std::replace(codes, codes + count, std::uint8_t{0x80}, std::uint8_t{0x81});  // -128 to -127
}

// q8_k's sums of 16 codes follow from its codes.
void set_sums(std::uint8_t* block) {
  for (int j = 0; j < 16; ++j) {
    std::int16_t sum = 0;
    for (int i = 0; i < 16; ++i) sum = static_cast<std::int16_t>(sum + static_cast<std::int8_t>(block[4 + 16 * j + i]));
    std::memcpy(block + 260 + 2 * j, &sum, sizeof sum);
  }
}

void shape_block(const Recipe& recipe, DType dtype, std::uint8_t* block) {
  const auto [scale, minimum, scales, codes] = parts_of(dtype);
  if (scale.count == sizeof(std::uint16_t)) set_exponent<std::uint16_t>(block + scale.at, recipe.scales, 10, 5);
  if (minimum.count > 0) set_exponent<std::uint16_t>(block + minimum.at, recipe.scales, 10, 5);
  if (dtype == DType::q8_0 && recipe.activations) as_activations(dtype, block);
  if (dtype != DType::q8_k || recipe.scales == Scales::as_they_are) return;
  set_exponent<std::uint32_t>(block, recipe.scales, 23, 8);
  as_activations(dtype, block);
}

}  // namespace

BlockParts parts_of(DType dtype) {
  switch (dtype) {
    case DType::q4_0:
      return {{0, 2}, {}, {}, {2, 16}};
    case DType::q4_1:
      return {{0, 2}, {2, 2}, {}, {4, 16}};
    case DType::q5_0:
      return {{0, 2}, {}, {}, {2, 20}};
    case DType::q5_1:
      return {{0, 2}, {2, 2}, {}, {4, 20}};
    case DType::q8_0:
      return {{0, 2}, {}, {}, {2, 32}};
    case DType::q4_k:
      return {{0, 2}, {2, 2}, {4, 12}, {16, 128}};
    case DType::q5_k:
      return {{0, 2}, {2, 2}, {4, 12}, {16, 160}};
    case DType::q6_k:
      return {{208, 2}, {}, {192, 16}, {0, 192}};
    case DType::q8_k:
      return {{0, 4}, {}, {}, {4, 256}};
    default:
      return {};
  }
}

void as_activations(DType dtype, std::uint8_t* block) {
  const BlockPart codes = parts_of(dtype).codes;
  raise_lowest_codes(block + codes.at, codes.count);
  if (dtype == DType::q8_k) set_sums(block);
}

bool generate_blocks(std::string_view distribution, std::uint64_t seed, std::uint32_t stream, DType dtype, std::int64_t count,
                     std::uint8_t* dst) {
  const std::size_t size = dtype_size(dtype);
  if (distribution == "zeros") {
    std::fill_n(dst, static_cast<std::size_t>(count) * size, std::uint8_t{0});
    return true;
  }
  const auto* recipe = std::find_if(kRecipes.begin(), kRecipes.end(), [&](const Recipe& r) { return r.name == distribution; });
  if (recipe == kRecipes.end()) return false;
  Words words(seed, stream);
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint8_t* block = dst + static_cast<std::size_t>(i) * size;
    for (std::size_t at = 0; at < size; at += 4) {
      const std::uint32_t word = words.next();
      std::memcpy(block + at, &word, std::min<std::size_t>(4, size - at));
    }
    shape_block(*recipe, dtype, block);
  }
  return true;
}

}  // namespace assay
