#include "harness/forensics/audit/recipe.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "harness/verdict/nearest.h"
#include "reference/blocks.h"
#include "reference/convert.h"
#include "reference/encode.h"

namespace assay {
namespace {

ActivationRounding keep(DType) {
  return ActivationRounding::none;
}

// Activations come in blocks of as many numbers as the weights.
ActivationRounding by_block(DType weight) {
  if (!is_block(weight)) return ActivationRounding::none;
  return dtype_numbers(weight) == dtype_numbers(DType::q8_0) ? ActivationRounding::q8_0 : ActivationRounding::q8_k;
}

// llama.cpp brings activations to the type of 16-bit weights too.
ActivationRounding by_weight(DType weight) {
  if (weight == DType::f16) return ActivationRounding::f16;
  if (weight == DType::bf16) return ActivationRounding::bf16;
  return by_block(weight);
}

// Angles: transformers rounds the power, its reciprocal and the product with the position, each to fp32, by a library's pow (2 ulp
// allowed): 6 roundings; sine and cosine 1 ulp. ggml multiplies from pair to pair by a rounded power.
const Recipe kRecipes[] = {
    {"definition", 0x1p-53, 0, 4 * 0x1p-53, 0, keep},       {"hf-float32", 0x1p-24, 0, 6 * 0x1p-24, 0, keep},
    {"hf-bfloat16", 0x1p-24, 0x1p-8, 6 * 0x1p-24, 0, keep}, {"llama.cpp", 0x1p-24, 0, 4 * 0x1p-24, 4 * 0x1p-24, by_weight},
    {"assay", 0x1p-24, 0, 4 * 0x1p-53, 0, by_block},
};

std::vector<double> through_blocks(reference::Format format, reference::Rounding rounding, std::span<const double> x) {
  const std::vector<float> narrow(x.begin(), x.end());
  const auto n = std::ssize(narrow);
  const std::vector<std::uint8_t> blocks = reference::encode(format, rounding, narrow.data(), n);
  std::vector<double> out;
  for (std::int64_t b = 0; b * dtype_numbers(format) < n; ++b) {
    const reference::Block block = reference::read_block(format, blocks.data() + b * reference::block_bytes(format));
    for (int i = 0; i < block.elements; ++i) out.push_back(block.value(i));
  }
  return out;
}

template <class Format>
double through(double x) {
  return Format::decode(reference::narrow<Format>(static_cast<float>(x)));
}

}  // namespace

std::string_view rounding_name(ActivationRounding rounding) noexcept {
  constexpr std::string_view kNames[] = {
      "not rounded",    "rounded to f16", "rounded to bf16", "rounded to q8_0 by 127/amax", "rounded to q8_0 by 1/d",
      "rounded to q8_k"};
  return kNames[static_cast<std::size_t>(rounding)];
}

std::int64_t numbers_of(ActivationRounding rounding) noexcept {
  if (rounding == ActivationRounding::q8_k) return 256;
  return rounding == ActivationRounding::q8_0 || rounding == ActivationRounding::q8_0_by_d ? 32 : 1;
}

std::span<const Recipe> recipes() {
  return kRecipes;
}

const Recipe& find_recipe(std::string_view name) {
  const auto* const found = std::ranges::find(kRecipes, name, &Recipe::name);
  if (found != std::end(kRecipes)) return *found;
  std::vector<std::string> names;
  std::string all;
  for (const Recipe& recipe : kRecipes) {
    names.push_back(recipe.name);
    all += (all.empty() ? "" : ", ") + recipe.name;
  }
  throw std::invalid_argument(unknown_name("recipe", name, names) + "; there are: " + all);
}

const Recipe& recipe_of(const TraceFile& trace) {
  const std::string& name = trace.head("recipe");
  return find_recipe(name == "hf" ? "hf-" + trace.head("dtype") : name);
}

std::vector<double> round_activations(ActivationRounding rounding, std::span<const double> x) {
  using reference::Format;
  using reference::Rounding;
  std::vector<double> out(x.begin(), x.end());
  switch (rounding) {
    case ActivationRounding::none:
      return out;
    case ActivationRounding::f16:
      std::ranges::transform(out, out.begin(), through<reference::Half>);
      return out;
    case ActivationRounding::bf16:
      std::ranges::transform(out, out.begin(), through<reference::Bfloat>);
      return out;
    case ActivationRounding::q8_0:
      return through_blocks(Format::q8_0, Rounding::nearest_even, x);
    case ActivationRounding::q8_0_by_d:
      return through_blocks(Format::q8_0, Rounding::away, x);
    default:
      return through_blocks(Format::q8_k, Rounding::nearest_even, x);
  }
}

}  // namespace assay
