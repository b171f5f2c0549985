// A recipe as JSON: what differs from another one, by name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "engine/model/json_members.h"
#include "harness/forensics/audit/recipe.h"
#include "harness/verdict/nearest.h"

namespace assay {
namespace {

template <class Value>
struct Word {
  std::string_view word;
  Value value;
};
constexpr Word<double> kArithmetics[] = {{"f64", 0x1p-53}, {"f32", 0x1p-24}};
constexpr Word<Storage> kStorages[] = {{"wide", kKeptWide}, {"bf16", kKeptBf16}, {"f16", kKeptF16}};
constexpr Word<bool> kScaledWords[] = {{"scores", false}, {"queries", true}};
constexpr Word<WeightRounding> kWeightWords[] = {{"none", WeightRounding::none},
                                                 {"f16", WeightRounding::f16},
                                                 {"bf16", WeightRounding::bf16},
                                                 {"i8_tensor", WeightRounding::i8_tensor},
                                                 {"u8_tensor", WeightRounding::u8_tensor}};
constexpr Word<ActivationRounding> kRoundingWords[] = {
    {"none", ActivationRounding::none},           {"f16", ActivationRounding::f16},
    {"bf16", ActivationRounding::bf16},           {"q8_0", ActivationRounding::q8_0},
    {"q8_0_by_d", ActivationRounding::q8_0_by_d}, {"q8_k", ActivationRounding::q8_k},
    {"u8_tensor", ActivationRounding::u8_tensor}};
constexpr Word<ActivationRounding> kSumWords[] = {
    {"wide", ActivationRounding::none}, {"bf16", ActivationRounding::bf16}, {"f16", ActivationRounding::f16}};
constexpr Word<ActivationRounding ActivationRule::*> kClasses[] = {{"f16", &ActivationRule::f16},
                                                                   {"bf16", &ActivationRule::bf16},
                                                                   {"f32", &ActivationRule::wide},
                                                                   {"blocks32", &ActivationRule::blocks32},
                                                                   {"blocks256", &ActivationRule::blocks256}};
// Roundings of the arithmetic, in its units.
constexpr Word<double Recipe::*> kAngleRoundings[] = {{"angle_roundings", &Recipe::angle_first},
                                                      {"angle_roundings_per_pair", &Recipe::angle_per_pair},
                                                      {"angle_roundings_per_log", &Recipe::angle_per_log}};

template <class Value, std::size_t n>
Value of_word(const char* kind, const std::string& word, const Word<Value> (&words)[n]) {
  const auto* const found = std::ranges::find(words, word, &Word<Value>::word);
  if (found != std::end(words)) return found->value;
  std::vector<std::string> known;
  for (const Word<Value>& one : words) known.emplace_back(one.word);
  throw std::invalid_argument(fmt::format("{}; there are: {}", unknown_name(kind, word, known), fmt::join(known, ", ")));
}

template <class Value, std::size_t n>
void take(const JsonMembers& members, const char* name, const Word<Value> (&words)[n], Value& value) {
  if (const auto word = members.optional_string(name)) value = of_word(name, *word, words);
}

void check_names(const nlohmann::json& object, const std::vector<std::string>& known) {
  for (const auto& [name, value] : object.items()) {
    if (std::ranges::find(known, name) == known.end())
      throw std::invalid_argument(
          fmt::format("recipe: {}; there are: {}", unknown_name("member", name, known), fmt::join(known, ", ")));
  }
}

// A word for numbers of any type, or one a class of weights.
void take_activations(const JsonMembers& members, const std::string& file, ActivationRule& rule) {
  const nlohmann::json* const value = members.find("activations");
  if (value == nullptr) return;
  if (!value->is_object()) {
    rule.f16 = rule.bf16 = rule.wide = of_word("activations", members.string("activations"), kRoundingWords);
    return;
  }
  const JsonMembers inner(*value, file, "activations.");
  for (const auto& [name, word] : value->items())
    rule.*of_word("activations", name, kClasses) = of_word("activations", inner.string(name), kRoundingWords);
}

}  // namespace

Recipe recipe_from_json(const nlohmann::json& given, const std::string& file) {
  check_names(given,
              {"name", "base", "arithmetic", "stored", "inner", "narrow", "operands", "silu_steps", "scaled", "angle_roundings",
               "angle_roundings_per_pair", "angle_roundings_per_log", "sigmoid", "sums", "activations", "weights", "table"});
  const JsonMembers members(given, file);
  Recipe recipe = preset_recipe(members.optional_string("base").value_or("hf-float32"));
  recipe.name = members.optional_string("name").value_or(recipe.name + ", changed");
  take(members, "arithmetic", kArithmetics, recipe.u);
  take(members, "stored", kStorages, recipe.stored);
  take(members, "inner", kStorages, recipe.inner);
  take(members, "operands", kRoundingWords, recipe.operands);
  if (const nlohmann::json* const narrow = members.find("narrow")) {
    recipe.narrow.clear();
    if (!narrow->is_array()) members.fail(Fault::key_type, "narrow", "expected names such as [\"rope\", \"attention\"]");
    for (const nlohmann::json& one : *narrow)
      recipe.narrow.push_back(formula_from_name(one.is_string() ? one.get<std::string>() : ""));
  }
  take(members, "scaled", kScaledWords, recipe.scaled_queries);
  take(members, "sums", kSumWords, recipe.sums);
  take(members, "weights", kWeightWords, recipe.weights);
  take(members, "table", kWeightWords, recipe.table);
  if (members.find("silu_steps") != nullptr) recipe.silu_steps = static_cast<int>(members.integer("silu_steps", 0, 8));
  for (const auto& [name, value] : kAngleRoundings) {
    const double roundings = members.optional_real(std::string(name)).value_or(recipe.*value / recipe.u);
    if (!(roundings >= 0 && roundings <= 0x1p20)) members.fail(Fault::member, std::string(name), "expected 0 to 1048576");
    recipe.*value = roundings * recipe.u;
  }
  recipe.sigmoid = members.optional_real("sigmoid").value_or(recipe.sigmoid);
  if (!(recipe.sigmoid >= 0 && recipe.sigmoid < 1)) members.fail(Fault::member, "sigmoid", "expected 0 to 1");
  take_activations(members, file, recipe.activations);
  return recipe;
}

}  // namespace assay
