// Inputs made from a seed: the same bytes here and in golden/record/generate.py (golden/SCHEMA.md, "Generated inputs").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "golden/dtype.h"

namespace assay {

// A distribution by name with its parameters; the formulas are in golden/SCHEMA.md.
struct Distribution {
  std::string name = "gauss";  // see distribution_names()
  double scale = 1.0;
  std::int64_t low = 0;   // wide: exponents; index: first value
  std::int64_t high = 0;  // wide: exponents, inclusive; index: one past the last

  bool operator==(const Distribution&) const = default;
};

std::span<const std::string_view> distribution_names() noexcept;

// Fills `count` elements at dst. `stream` keeps the tensors of one case apart (the input's ordinal).
// Throws std::invalid_argument for an unknown name or one that the dtype cannot hold.
void generate(const Distribution& distribution, std::uint64_t seed, std::uint32_t stream, DType dtype, std::int64_t count,
              void* dst);

// The numbers that a format of floating point ends at, which `specials` has among others: zero, the least and the largest denormal, the least
// and the largest normal number, infinity, a quiet NaN with a payload, a signalling one, 1.
enum class SpecialNumber : std::uint8_t {
  zero,
  least,
  largest_denormal,
  least_normal,
  largest,
  infinity,
  quiet_nan,
  signalling_nan,
  one
};
inline constexpr std::uint32_t kSpecialNumbers = 9;
// At dst, as element i. f32, f16 or bf16.
void put_special(DType dtype, void* dst, std::int64_t i, SpecialNumber special, bool negative);

}  // namespace assay
