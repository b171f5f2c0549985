#include "harness/forensics/audit/recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "engine/files/strict_json.h"
#include "harness/verdict/nearest.h"
#include "reference/blocks.h"
#include "reference/convert.h"
#include "reference/encode.h"

namespace assay {
namespace {

constexpr double kU = 0x1p-24;
constexpr std::uint64_t kMostBytes = 1U << 16;  // of a recipe's file
// Activations come in blocks of as many numbers as the weights.
constexpr ActivationRule kByBlock = {.blocks32 = ActivationRounding::q8_0, .blocks256 = ActivationRounding::q8_k};
// llama.cpp brings activations to the type of 16-bit weights too.
constexpr ActivationRule kByWeight = {.f16 = ActivationRounding::f16,
                                      .bf16 = ActivationRounding::bf16,
                                      .blocks32 = ActivationRounding::q8_0,
                                      .blocks256 = ActivationRounding::q8_k};
constexpr ActivationRule kTensor = {
    .f16 = ActivationRounding::u8_tensor, .bf16 = ActivationRounding::u8_tensor, .wide = ActivationRounding::u8_tensor};
constexpr ActivationRule kBfloat = {
    .f16 = ActivationRounding::bf16, .bf16 = ActivationRounding::bf16, .wide = ActivationRounding::bf16};

// Angles: transformers rounds the power, its reciprocal and the product with the position, each to fp32, by a library's pow (2 ulp
// allowed): 6 roundings; sine and cosine 1 ulp. ggml multiplies from pair to pair by a rounded power. MLX takes exp of the frequency's
// logarithm, a rounded constant times a number: two roundings of it, an exponential of 4 ulp, which is 8 roundings, and the product.
// Its silu keeps the exponential, the sigmoid and the product.
const Recipe kRecipes[] = {
    {.name = "definition", .u = 0x1p-53, .angle_first = 4 * 0x1p-53},
    {.name = "hf-float32"},
    {.name = "hf-bfloat16", .stored = kKeptBf16, .inner = kKeptBf16},
    {.name = "hf-float16", .stored = kKeptF16, .inner = kKeptF16},
    {.name = "llama.cpp", .angle_first = 4 * kU, .angle_per_pair = 4 * kU, .activations = kByWeight},
    {.name = "assay", .angle_first = 4 * 0x1p-53, .activations = kByBlock},
    // torch.compile leaves roundings out or keeps them; it adds none.
    {.name = "torch-float32"},
    {.name = "torch-bfloat16", .stored = kKeptBf16, .inner = kKeptBf16, .silu_steps = 2},
    {.name = "mlx-float32", .scaled_queries = true, .angle_first = 9 * kU, .angle_per_log = 2 * kU},
    {.name = "mlx-float16",
     .stored = kKeptF16,
     .inner = kKeptF16,
     .silu_steps = 3,
     .scaled_queries = true,
     .angle_first = 9 * kU,
     .angle_per_log = 2 * kU},
    {.name = "mlx-bfloat16",
     .stored = kKeptBf16,
     .inner = kKeptBf16,
     .silu_steps = 3,
     .scaled_queries = true,
     .angle_first = 9 * kU,
     .angle_per_log = 2 * kU},
    {.name = "onnxruntime-float32"},
    {.name = "onnxruntime-int8",
     .activations = kTensor,
     .weights = WeightRounding::i8_tensor,
     .table = WeightRounding::u8_tensor},
    {.name = "openvino-f32"},
    {.name = "openvino-bf16",
     .stored = kKeptBf16,
     .inner = kKeptBf16,
     .narrow = {Formula::rope, Formula::attention},
     .operands = ActivationRounding::bf16,
     .activations = kBfloat},
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

// As ONNX's DynamicQuantizeLinear says: zero is a code, ties to even, all in f32.
std::vector<double> through_codes(std::span<const double> x) {
  const auto least = static_cast<float>(std::min(0.0, *std::ranges::min_element(x)));
  const auto most = static_cast<float>(std::max(0.0, *std::ranges::max_element(x)));
  const float scale = (most - least) / 255;
  std::vector<double> out(x.size());
  if (scale == 0) return out;
  const float zero = std::nearbyint(std::clamp(-least / scale, 0.0F, 255.0F));
  std::ranges::transform(x, out.begin(), [&](double number) {
    const float code = std::clamp(std::nearbyint(static_cast<float>(number) / scale) + zero, 0.0F, 255.0F);
    return static_cast<double>(scale) * static_cast<double>(code - zero);
  });
  return out;
}

template <class Format>
double through(double x) {
  return Format::decode(reference::narrow<Format>(static_cast<float>(x)));
}

}  // namespace

std::string_view rounding_name(ActivationRounding rounding) noexcept {
  constexpr std::string_view kNames[] = {"not rounded",
                                         "rounded to f16",
                                         "rounded to bf16",
                                         "rounded to q8_0 by 127/amax",
                                         "rounded to q8_0 by 1/d",
                                         "rounded to q8_k",
                                         "rounded to 8 bits by tensor"};
  return kNames[static_cast<std::size_t>(rounding)];
}

std::int64_t numbers_of(ActivationRounding rounding) noexcept {
  if (rounding == ActivationRounding::q8_k) return 256;
  return rounding == ActivationRounding::q8_0 || rounding == ActivationRounding::q8_0_by_d ? 32 : 1;
}

std::span<const Recipe> recipes() {
  return kRecipes;
}

ActivationRounding ActivationRule::operator()(DType weight) const {
  if (weight == DType::f16) return f16;
  if (weight == DType::bf16) return bf16;
  if (!is_block(weight)) return wide;
  return dtype_numbers(weight) == dtype_numbers(DType::q8_0) ? blocks32 : blocks256;
}

const Recipe& preset_recipe(const std::string& name) {
  const auto* const found = std::ranges::find(kRecipes, name, &Recipe::name);
  if (found != std::end(kRecipes)) return *found;
  std::vector<std::string> names;
  for (const Recipe& recipe : kRecipes) names.push_back(recipe.name);
  throw std::invalid_argument(
      fmt::format("{}; there are: {}, and files FILE.json", unknown_name("recipe", name, names), fmt::join(names, ", ")));
}

Recipe find_recipe(const std::string& name) {
  if (name.starts_with('{')) return recipe_from_json(parse_strict_json(name, "the recipe"), "the recipe");
  if (name.ends_with(".json")) return recipe_from_json(read_strict_json(MappedFile(name), kMostBytes), name);
  return preset_recipe(name);
}

Recipe recipe_of_head(const std::string& recipe, const std::string& dtype) {
  return find_recipe(recipe == "hf" ? "hf-" + dtype : recipe);
}

Recipe recipe_of(const TraceFile& trace) {
  return recipe_of_head(trace.head("recipe"), trace.head("dtype"));
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
    case ActivationRounding::u8_tensor:
      return through_codes(x);
    default:
      return through_blocks(Format::q8_k, Rounding::nearest_even, x);
  }
}

}  // namespace assay
