// How another engine rounds: what its values may differ by from the definition's without being wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "golden/dtype.h"
#include "golden/trace.h"

namespace assay {

// What becomes of activations before they meet a weight.
enum class ActivationRounding : std::uint8_t { none, f16, bf16, q8_0, q8_0_by_d, q8_k };
std::string_view rounding_name(ActivationRounding rounding) noexcept;
// Numbers of a block: a row must be whole blocks.
std::int64_t numbers_of(ActivationRounding rounding) noexcept;

struct Recipe {
  std::string name;
  double u = 0x1p-24;      // unit roundoff of its arithmetic
  double stored = 0;       // relative error of storing a result: 2^-8 for bf16, 0 where results keep the arithmetic's type
  double angle_first = 0;  // rope: relative error of an angle, and what each further pair adds (iterated angles)
  double angle_per_pair = 0;
  // By the weight's type.
  ActivationRounding (*activations)(DType weight) = nullptr;
};

// "definition", "hf-float32", "hf-bfloat16", "llama.cpp", "assay".
std::span<const Recipe> recipes();
// Throws std::invalid_argument that lists them.
const Recipe& find_recipe(std::string_view name);
// The one that a trace's head names.
const Recipe& recipe_of(const TraceFile& trace);

// A row of activations as its product sees it.
std::vector<double> round_activations(ActivationRounding rounding, std::span<const double> x);

}  // namespace assay
