// How another engine rounds: what its values may differ by from the definition's without being wrong. Data: the known engines are rows of
// recipe.cc, others come as JSON (docs/audit.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "golden/dtype.h"
#include "golden/trace.h"
#include "harness/forensics/model/definition.h"

namespace assay {

// What becomes of activations before they meet a weight. u8_tensor: 256 codes for a whole matrix, its least number to its largest.
enum class ActivationRounding : std::uint8_t { none, f16, bf16, q8_0, q8_0_by_d, q8_k, u8_tensor };
std::string_view rounding_name(ActivationRounding rounding) noexcept;
// Numbers of a block: a row must be whole blocks.
std::int64_t numbers_of(ActivationRounding rounding) noexcept;

// By the weight's type: numbers of f16 and bf16, other numbers, blocks of 32 and of 256.
struct ActivationRule {
  ActivationRounding f16 = ActivationRounding::none;
  ActivationRounding bf16 = ActivationRounding::none;
  ActivationRounding wide = ActivationRounding::none;
  ActivationRounding blocks32 = ActivationRounding::none;
  ActivationRounding blocks256 = ActivationRounding::none;
  ActivationRounding operator()(DType weight) const;
};

// f16, bf16: each number. i8_tensor: codes of -127 to 127 for a whole matrix. u8_tensor: as of activations.
enum class WeightRounding : std::uint8_t { none, f16, bf16, i8_tensor, u8_tensor };

// A type that numbers are kept in: what rounding to it may change, of a number's size, and of what is denormal there.
struct Storage {
  double u = 0;
  double tiny = 0;
  double of(double size) const { return u * size + tiny; }
};
inline constexpr Storage kKeptWide = {};
inline constexpr Storage kKeptBf16 = {0x1p-8, 0};
inline constexpr Storage kKeptF16 = {0x1p-11, 0x1p-25};

struct Recipe {
  std::string name;
  double u = 0x1p-24;          // unit roundoff of its arithmetic
  Storage stored = kKeptWide;  // a result; wide: it keeps the arithmetic's type
  Storage inner = kKeptWide;   // between a site's steps: normalised values, sines, scores, softmax's weights, silu
  std::vector<Formula> narrow =
      {};  // what is kept so, on operands rounded so first; none: everything is, on operands as they are
  ActivationRounding operands = ActivationRounding::none;
  int silu_steps = 1;                // how many of those silu has
  bool scaled_queries = false;       // attention: queries meet the scale, not scores
  double angle_first = 6 * 0x1p-24;  // rope: relative error of an angle,
  double angle_per_pair = 0;         // what each further pair adds (iterated angles),
  double angle_per_log = 0;          // and each unit of the frequency's logarithm (exp or exp2 of it)
  double sigmoid = 0;                // absolute error of a sigmoid beyond roundings
  ActivationRounding sums =
      ActivationRounding::none;  // f16 or bf16: what a product with weights rounds terms and sums to, in turn
  ActivationRule activations = {};
  WeightRounding weights = WeightRounding::none;
  WeightRounding table =
      WeightRounding::none;  // the embedding's and, where it is the same, the logits', whose activations stay then
};

std::span<const Recipe> recipes();
// One of them. Throws std::invalid_argument that lists the names.
const Recipe& preset_recipe(const std::string& name);
// One of them; or JSON text, an object; or a file's name that ends in .json. Throws std::invalid_argument, or
// ModelFileError, that says which member and what was expected.
Recipe find_recipe(const std::string& name);
Recipe recipe_from_json(const nlohmann::json& json, const std::string& file);
// The one that a trace's head names or holds.
Recipe recipe_of(const TraceFile& trace);
// The same of the words that a head has: "hf" stands for the recipe of its dtype.
Recipe recipe_of_head(const std::string& recipe, const std::string& dtype);

// Rows of activations as their product sees them.
std::vector<double> round_activations(ActivationRounding rounding, std::span<const double> x);

}  // namespace assay
